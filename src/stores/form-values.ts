import { storeDraft, takeDraft } from './form-drafts.ts'

/** By field name. Several values of one field are joined by newlines. */
export type FormValues = Record<string, string>

export type FieldElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** If no checkbox of a field is checked, its value is empty. */
export function readFormValues(form: HTMLFormElement): FormValues {
  const values: FormValues = {}
  for (const box of form.querySelectorAll<HTMLInputElement>('[type=checkbox]'))
    values[box.name] = ''
  for (const [name, value] of new FormData(form))
    values[name] = values[name] ? `${values[name]}\n${value}` : String(value)
  return values
}

export function isFieldChanged(field: Element): boolean {
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options]
    // a list without a default shows its first option
    if (!field.multiple && !options.some(({ defaultSelected }) => defaultSelected))
      return field.selectedIndex !== options.findIndex(({ disabled }) => !disabled)
    return options.some(({ selected, defaultSelected }) => selected !== defaultSelected)
  }
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue
  if (!(field instanceof HTMLInputElement)) return false
  // the value of a box does not change, and is `on` where none is given
  return isCheckable(field)
    ? field.checked !== field.defaultChecked
    : field.value !== field.defaultValue
}

export function isCheckable({ type }: HTMLInputElement): boolean {
  return type === 'checkbox' || type === 'radio'
}

/** `{ email: '…', locale: 'fr' }` → `'form email locale'` */
export function formDraftName(values: FormValues): string {
  return `form ${Object.keys(values).join(' ')}`
}

/** `path` is the page's path in the default language: `/en/verify` */
export function storeFormDraft(path: string, form: HTMLFormElement): void {
  const values = readFormValues(form)
  const name = formDraftName(values)
  // the script that fills in the stored values may not have run yet, so empty fields keep them
  const earlier = new Map<string, unknown>(Object.entries(Object(takeDraft(path, name))))
  for (const [field, value] of Object.entries(values))
    if (value === '' && earlier.has(field)) values[field] = String(earlier.get(field))
  storeDraft(path, name, values)
}
