import { type FormEvent, useState } from 'react'
import { listOfferedSources, verifyReference } from '../../stores/verifications.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Field } from '../forms/Field.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useTranslation } from '../kit/use-translation.ts'

const maxLength = 1000

/** Shows nothing if no register can be asked without a file, or while that is unknown. */
export function VerifyReference() {
  const { locale, t } = useTranslation()
  const offered = useLoaded('Loading the registers failed', listOfferedSources)
  const [chosen, setChosen] = useState<string>()
  const sources = offered.value ?? []
  const source = sources.find(({ id }) => id === chosen) ?? sources[0]
  if (!source) return null
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const textOf = (name: string) => String(values.get(name) ?? '')
    void verifyReference({
      data_source: source.id,
      reference: textOf('reference'),
      fields: source.fields.map((_, at) => textOf(`field${at}`))
    })
  }
  return (
    <form onSubmit={send} className="flex flex-col gap-4 print:hidden" data-verify="reference">
      <h2 className="font-semibold text-lg">{t('verify.reference.title')}</h2>
      {sources.length > 1 && (
        <SelectField
          label={t('verify.reference.register')}
          options={sources.map(({ id, name }) => ({ value: id, label: name }))}
          value={source.id}
          onChange={setChosen}
        />
      )}
      {/* fields of another register begin empty */}
      <div key={source.id} className="grid items-start gap-4 sm:grid-cols-2">
        <Field
          label={source.reference[locale]}
          name="reference"
          required
          maxLength={maxLength}
          autoComplete="off"
          spellCheck={false}
        />
        {source.fields.map(({ labels, type }, at) => (
          <Field
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            key={at}
            label={labels[locale]}
            name={`field${at}`}
            type={type}
            required
            maxLength={maxLength}
            autoComplete="off"
            spellCheck={false}
          />
        ))}
      </div>
      <p className="text-ink-soft text-sm">{t('verify.reference.privacy')}</p>
      <button type="submit" className="btn btn-outline self-start">
        {t('verify.reference.submit')}
      </button>
    </form>
  )
}
