import { useEffect, useState } from 'react'
import { useTranslation } from '../kit/use-translation.ts'
import { fieldErrorText } from './Field.tsx'
import type { FormState } from './use-form.ts'

export function ErrorSummary({ form }: { form: Pick<FormState, 'props' | 'errors' | 'focus'> }) {
  const { t } = useTranslation()
  const { errors } = form
  const names = Object.keys(errors)
  const wrong = names.join(' ')
  const { ref } = form.props
  const [fields, setFields] = useState<ShownField[]>([])
  // the labels can be read only after the form is drawn
  useEffect(() => setFields(fieldsOf(ref.current, wrong.split(' '))), [ref, wrong])
  return (
    <div role="alert" className="alert alert-error alert-outline flex flex-col items-start gap-1">
      <p>{t('account.attention', { count: names.length })}</p>
      <ul className="list-disc ps-5 text-base-content">
        {fields.map(({ name, id, label }) => (
          <li key={name}>
            <a
              className="link inline-block min-h-6"
              href={`#${id}`}
              onClick={event => {
                event.preventDefault()
                form.focus(name)
              }}
            >
              {label}
            </a>{' '}
            {fieldErrorText(errors, name, t)}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface ShownField {
  name: string
  id: string
  label: string
}

function fieldsOf(form: HTMLFormElement | null, names: readonly string[]): ShownField[] {
  const found = new Map<string, ShownField>()
  for (const field of form?.querySelectorAll<HTMLInputElement>('input, select, textarea') ?? []) {
    const name = field.dataset['for'] ?? field.name
    if (!names.includes(name) || found.has(name) || field.hidden) continue
    const legend = field.closest('fieldset')?.querySelector('legend')
    const isChoice = /^(?:checkbox|radio)$/.test(field.type)
    const label = (isChoice && legend) || field.labels?.[0]
    found.set(name, { name, id: field.id, label: label?.textContent ?? name })
  }
  return [...found.values()]
}
