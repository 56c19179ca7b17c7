type News = DocumentEventMap['vidimus:news']['detail']

/** Shows a message for six seconds, across pages. With `undo`, ten seconds, or until a sign-out. */
export function showMessage(text: string, undo?: News['undo']): void {
  document.dispatchEvent(
    new CustomEvent<News>('vidimus:news', { detail: undo ? { text, undo } : { text } })
  )
}
