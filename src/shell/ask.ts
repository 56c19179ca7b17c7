export interface Question {
  text: string
  go: string
  stay: string
  /** When there is nothing left to ask. */
  until: Promise<void>
}

/** A dialog with two answers; Escape, the first one and a question that has lost its reason mean no. */
export function ask({ text, go, stay, until }: Question): Promise<boolean> {
  const dialog = document.createElement('dialog')
  dialog.className = 'ask'
  dialog.setAttribute('aria-label', text)
  const words = document.createElement('p')
  words.textContent = text
  const answers = document.createElement('div')
  answers.className = 'ask-answers'
  answers.append(answer(dialog, stay, 'stay', 'btn'), answer(dialog, go, 'go', 'btn btn-outline'))
  dialog.append(words, answers)
  document.body.append(dialog)
  dialog.showModal()
  void until.then(() => dialog.close('stay'))
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      // an opener in a menu or drawer was hidden by the dialog and cannot take the focus back
      if (document.activeElement === document.body) document.getElementById('user')?.focus()
      resolve(dialog.returnValue === 'go')
    })
  })
}

function answer(dialog: HTMLDialogElement, label: string, value: string, look: string) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = look
  button.textContent = label
  button.addEventListener('click', () => dialog.close(value))
  return button
}
