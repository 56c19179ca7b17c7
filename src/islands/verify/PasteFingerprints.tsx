import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useRef,
  useState
} from 'react'
import type { OtherDigest, PastedFingerprints } from '../../core/input/pasted-fingerprints.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { pagePathInDefaultLocale, takeDraft } from '../../stores/form-drafts.ts'
import { formDraftName } from '../../stores/form-values.ts'
import { startVerifyingFingerprintsIn } from '../../stores/verifications.ts'
import { FieldFrame } from '../kit/FieldFrame.tsx'
import { useTranslation } from '../kit/use-translation.ts'

const mostRows = 6
const mostNamed = 5

export function PasteFingerprints() {
  const { locale, t } = useTranslation()
  const [isReady, setReady] = useState(false)
  const [rows, setRows] = useState(1)
  const [read, setRead] = useState<PastedFingerprints>()
  const input = useRef<HTMLTextAreaElement>(null)
  const verified = useRef('')
  // a form submitted before the script runs would put the fingerprint into the address
  useEffect(() => {
    setReady(true)
    // typed on this page in another language
    const { fingerprint } = Object(
      takeDraft(pagePathInDefaultLocale(), formDraftName({ fingerprint: '' }))
    )
    if (typeof fingerprint !== 'string' || input.current?.value !== '') return
    input.current.value = fingerprint
    setRows(Math.min(mostRows, fingerprint.split('\n').length))
  }, [])

  const showRows = (text: string) => setRows(Math.min(mostRows, text.split('\n').length))
  const take = () => {
    if (!input.current) return
    const text = input.current.value
    verified.current = text
    showRows(text)
    const result = startVerifyingFingerprintsIn(text)
    setRead(result)
    if (result.found.length === 0) input.current.focus()
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    take()
  }
  const paste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const text = event.clipboardData.getData('text')
    if (text.trim() === '') return
    event.preventDefault()
    const { currentTarget: field } = event
    // what was verified gives way to what comes next
    if (field.value === verified.current) field.value = text
    else field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end')
    take()
  }
  const submitOnEnter = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.currentTarget.form?.requestSubmit()
  }
  const isMultiline = verified.current.trim().includes('\n')
  const refused = read && describeRefused(read, isMultiline, t)
  return (
    <form
      onSubmit={send}
      noValidate
      className="flex flex-col gap-x-4 gap-y-3 sm:flex-row print:hidden"
    >
      <div className="min-w-0 grow">
        <FieldFrame
          label={t('verify.paste.label')}
          hint={t('verify.paste.hint')}
          error={refused}
          control={props => (
            <textarea
              {...props}
              ref={input}
              name="fingerprint"
              rows={rows}
              className={`textarea min-h-10 w-full resize-none whitespace-pre font-mono pointer-coarse:min-h-11 ${refused ? 'border-error' : ''}`}
              autoComplete="off"
              autoCapitalize="none"
              enterKeyHint="go"
              spellCheck={false}
              onPaste={paste}
              onKeyDown={submitOnEnter}
              onInput={event => showRows(event.currentTarget.value)}
            />
          )}
        >
          {read && read.found.length > 0 && read.skipped.length > 0 && (
            <p role="status" className="text-ink-soft text-sm">
              {t('verify.paste.skipped', {
                count: read.skipped.length,
                lines: listOfLines(read.skipped, locale)
              })}
            </p>
          )}
        </FieldFrame>
      </div>
      <button type="submit" className="btn btn-outline self-start sm:mt-5.75" disabled={!isReady}>
        {t('verify.paste.submit')}
      </button>
    </form>
  )
}

function describeRefused(
  { found, others }: PastedFingerprints,
  isMultiline: boolean,
  t: Translate
): string | undefined {
  if (others.length === 0) return found.length === 0 ? t('verify.paste.invalid') : undefined
  const sentences = others.slice(0, mostNamed).map(each => {
    const text = describeOther(each, t)
    // the sentence stands alone where there is one line
    return isMultiline
      ? t('verify.paste.line', { line: each.line, text })
      : text.charAt(0).toUpperCase() + text.slice(1)
  })
  const left = others.length - mostNamed
  return [...sentences, ...(left > 0 ? [t('verify.paste.others', { count: left })] : [])].join(' ')
}

function describeOther({ algorithm, digits }: OtherDigest, t: Translate): string {
  return algorithm === undefined
    ? t('verify.paste.length', { digits })
    : t('verify.paste.algorithm', { algorithm })
}

function listOfLines(lines: readonly number[], locale: Locale): string {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last && last[1] === line - 1) last[1] = line
    else ranges.push([line, line])
  }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`))
  return new Intl.ListFormat(languageTag(locale), { type: 'conjunction' }).format(texts)
}
