import { Anchor, createTheme, type CSSVariablesResolver } from '@mantine/core';

/** Shades are chosen so that text has a contrast of at least 4.5 in light and in dark (WCAG 1.4.3). */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: { Anchor: Anchor.extend({ defaultProps: { inherit: true } }) },
});

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-9)',
    '--tc-good': 'var(--mantine-color-teal-9)',
    '--tc-bad': 'var(--mantine-color-red-9)',
    '--tc-busy': 'var(--mantine-color-blue-9)',
    '--tc-quiet': 'var(--mantine-color-gray-7)',
    '--tc-warn': '#8a4b00',
    '--tc-mark': 'var(--mantine-color-yellow-1)',
    '--tc-bubble': 'var(--mantine-color-gray-1)',
    '--tc-wave': 'var(--mantine-color-gray-5)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-4)',
    '--tc-good': 'var(--mantine-color-teal-4)',
    '--tc-bad': 'var(--mantine-color-red-4)',
    '--tc-busy': 'var(--mantine-color-blue-4)',
    '--tc-quiet': 'var(--mantine-color-dark-1)',
    '--tc-warn': 'var(--mantine-color-yellow-4)',
    '--tc-mark': '#4d4100',
    '--tc-bubble': 'var(--mantine-color-dark-6)',
    '--tc-wave': 'var(--mantine-color-dark-2)',
  },
});
