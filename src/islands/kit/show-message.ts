type News = DocumentEventMap['vidimus:news']['detail']

/**
 * Shows a short message in the corner of the window for six seconds, even if another page is
 * opened. With `undo`, adds a button that runs `undo`, and shows the message for ten seconds, or
 * until the person signs out.
 */
export function showMessage(text: string, undo?: News['undo']): void {
  document.dispatchEvent(
    new CustomEvent<News>('vidimus:news', { detail: undo ? { text, undo } : { text } })
  )
}
