import { setNonce } from 'get-nonce';

/** The page's nonce, which lets styles that are made in the browser pass the content-security policy. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// For the library that keeps the page from scrolling behind a dialog.
setNonce(nonce);
