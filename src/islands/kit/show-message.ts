type News = DocumentEventMap['vidimus:news']['detail']

/**
 * Shows a short message in the corner of the window. The message stays when another page is opened.
 * A message with `undo` has a button that runs `undo`. Such a message disappears after ten seconds,
 * and when the person signs out.
 */
export function showMessage(text: string, undo?: News['undo']): void {
  document.dispatchEvent(
    new CustomEvent<News>('vidimus:news', { detail: undo ? { text, undo } : { text } })
  )
}
