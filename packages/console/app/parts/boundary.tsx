import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  /** What stands in for something that could not be shown. */
  readonly fallback: ReactNode;
  /** Another value tries again. */
  readonly resetKey: unknown;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failed: boolean;
  readonly resetKey: unknown;
}

/** Keeps a part that fails from taking the whole page with it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false, resetKey: this.props.resetKey };

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ resetKey }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return resetKey === state.resetKey ? null : { failed: false, resetKey };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
