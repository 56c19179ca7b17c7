export interface Question {
  text: string
  go: string
  stay: string
}

/** A dialog with two answers; Escape and the first one mean no. */
export function ask({ text, go, stay }: Question): Promise<boolean> {
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
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove()
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
