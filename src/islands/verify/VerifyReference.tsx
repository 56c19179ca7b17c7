import { useStore } from '@nanostores/react'
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { OfferedSource } from '../../contract/verifications.ts'
import { pagePathInDefaultLocale, storeDraft, takeDraft } from '../../stores/form-drafts.ts'
import { $session } from '../../stores/sessions.ts'
import { listOfferedSources, verifyReference } from '../../stores/verifications.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { FieldFrame } from '../kit/FieldFrame.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useTranslation } from '../kit/use-translation.ts'

const maxLength = 1000
const draftName = 'reference'

interface Typed {
  source: string
  /** The reference, then the check fields. */
  values: string[]
}

/** Shows nothing while the registers are loading, and if none can be asked without a file. */
export function VerifyReference() {
  const { locale, t } = useTranslation()
  const offered = useLoaded('Loading the registers failed', listOfferedSources)
  // whoever signs in may ask more registers
  const { status } = useStore($session, { ssr: 'initial' })
  const askedAs = useRef(status)
  const reload = useEffectEvent(offered.reload)
  useEffect(() => {
    if (askedAs.current === status) return
    askedAs.current = status
    void reload()
  }, [status])
  const [typed, setTyped] = useTyped()
  const [isSent, setSent] = useState(false)

  if (offered.failure) {
    return (
      <section className="flex flex-col gap-4 print:hidden" data-verify="unknown">
        <h2 className="font-semibold text-lg">{t('verify.reference.title')}</h2>
        <ErrorNote
          error={offered.failure}
          text={t('verify.reference.failed')}
          retry={offered.reload}
        />
      </section>
    )
  }
  const sources = offered.value ?? []
  const source = sources.find(({ id }) => id === typed?.source) ?? sources[0]
  if (!source) return null
  const inputs = inputsOf(source)
  const values = typed?.source === source.id ? typed.values : []
  const keep = (at: number, text: string) =>
    setTyped(now => {
      const before = now?.source === source.id ? now.values : []
      const after = inputs.map((_, each) => (each === at ? text : (before[each] ?? '')))
      return { source: source.id, values: after }
    })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = [...event.currentTarget.querySelectorAll('input')]
    const missing = fields.find(({ value }) => value.trim() === '')
    setSent(missing !== undefined)
    if (missing) {
      missing.focus()
      return
    }
    const [reference = '', ...others] = fields.map(({ value }) => value)
    void verifyReference({ data_source: source.id, reference, fields: others })
  }
  return (
    <form
      onSubmit={send}
      noValidate
      className="flex flex-col gap-4 print:hidden"
      data-verify="reference"
    >
      <div>
        <h2 className="font-semibold text-lg">{t('verify.reference.title')}</h2>
        <p className="text-ink-soft text-sm">{t('verify.reference.privacy')}</p>
      </div>
      {sources.length > 1 && (
        <FieldFrame
          label={t('verify.reference.register')}
          control={described => (
            <select
              {...described}
              className="select w-full overflow-hidden"
              value={source.id}
              onChange={event => {
                setSent(false)
                setTyped({ source: event.currentTarget.value, values: [] })
              }}
            >
              {sources.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        />
      )}
      {/* fields of another register begin empty */}
      <div key={source.id} className="grid items-start gap-4 sm:grid-cols-2">
        {inputs.map(({ labels, type }, at) => {
          const isMissing = isSent && !values[at]?.trim()
          const error = isMissing ? t('fields.required') : undefined
          return (
            <FieldFrame
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
              key={at}
              label={labels[locale]}
              error={error}
              control={described => (
                <input
                  {...described}
                  type={type}
                  className={`input w-full ${error ? 'border-error' : ''}`}
                  maxLength={maxLength}
                  autoComplete="off"
                  spellCheck={false}
                  defaultValue={values[at]}
                  onInput={event => keep(at, event.currentTarget.value)}
                />
              )}
            />
          )
        })}
      </div>
      <button type="submit" className="btn btn-outline self-start">
        {t('verify.reference.submit')}
      </button>
    </form>
  )
}

function inputsOf({ reference, fields }: OfferedSource): OfferedSource['fields'] {
  return [{ labels: reference, type: 'text' }, ...fields]
}

// what was typed goes along to the page in the other language
function useTyped() {
  const [typed, setTyped] = useState<Typed | undefined>(
    // as: only stored below
    () => takeDraft(pagePathInDefaultLocale(), draftName) as Typed | undefined
  )
  const keep = useEffectEvent(() => {
    if (typed) storeDraft(pagePathInDefaultLocale(), draftName, typed)
  })
  useEffect(() => {
    const listen = () => keep()
    document.addEventListener('vidimus:language', listen)
    return () => document.removeEventListener('vidimus:language', listen)
  }, [])
  return [typed, setTyped] as const
}
