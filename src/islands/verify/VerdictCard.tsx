import type { Ref } from 'react'
import type { VerificationResult } from '../../contract/verifications.ts'
import { describeVerdict, type VerdictDescription } from '../../core/pages/verdict-words.ts'
import { formatBytes, formatExactTime } from '../../core/text/format.ts'
import type { Verification } from '../../stores/verifications.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface VerdictProps {
  check: Verification
  answer: VerificationResult
}

/**
 * The full result of a verification: the seal, the verdict as a word and as a sentence, and the
 * facts below it.
 */
export function VerdictCard({ ref, ...props }: VerdictProps & { ref?: Ref<HTMLHeadingElement> }) {
  const { check, answer } = props
  const { t } = useTranslation()
  const description = describeVerdict(answer, check.subject)
  return (
    <article className="sheet flex flex-col gap-6" data-verdict={description.key}>
      <div className="flex flex-col items-start gap-4 sm:flex-row sm:gap-6">
        <VerdictSeal description={description} className="size-24" />
        <div className="flex min-w-0 flex-col gap-2">
          <VerdictLabel description={description} />
          {/* the margin keeps the word above it clear of the bar, however large the text is */}
          <h2 ref={ref} tabIndex={-1} className="verdict scroll-mt-12">
            <VerdictSentence description={description} company={answer.company} />
          </h2>
          {description.adds.map(add => (
            <p key={add}>{t(`verify.adds.${add}`)}</p>
          ))}
        </div>
      </div>
      <VerdictFacts {...props} />
    </article>
  )
}

/**
 * The facts below the verdict: what the record proves and does not prove, the name, size and
 * fingerprint of the document, and the time of the verification.
 */
export function VerdictFacts({ check, answer }: VerdictProps) {
  const { locale, t } = useTranslation()
  const { subject } = check
  const description = describeVerdict(answer, subject)
  const { company, sha256 } = answer
  return (
    <dl className="grid gap-4 text-sm sm:grid-cols-[max-content_1fr] sm:gap-x-6">
      {description.leafHash && (
        <>
          <Fact name={t('verify.proves.title')}>{t(`verify.proves.${subject}`, { company })}</Fact>
          <Fact name={t('verify.provesNot.title')}>{t('verify.provesNot.text')}</Fact>
        </>
      )}
      <Fact name={t('verify.file')}>
        <span className="break-words">{check.name ?? t('verify.pasted')}</span>
        {subject === 'fingerprint' && check.name !== undefined && (
          <span className="ms-3 text-ink-soft">{t('verify.pasted')}</span>
        )}
        {check.size !== undefined && (
          <span className="ms-3 text-ink-soft">{formatBytes(check.size, locale)}</span>
        )}
      </Fact>
      <Fact name={t('verify.fingerprint')}>
        <Fingerprint sha256={sha256} />
      </Fact>
      <Fact name={t('verify.checked')}>
        <time dateTime={answer.at}>{formatExactTime(new Date(answer.at), locale)}</time>
      </Fact>
      <dd className="flex flex-col gap-1 text-ink-soft sm:col-span-2">
        {description.leafHash && <p>{t('verify.time', { company })}</p>}
        <p>
          <Around text={t('verify.address', { host: marker })}>
            <b className="text-base-content">{location.host}</b>
          </Around>
        </p>
      </dd>
    </dl>
  )
}

export function VerdictSeal({
  description,
  className,
  small = false
}: {
  description: VerdictDescription
  className: string
  small?: boolean
}) {
  const { t } = useTranslation()
  const { leafHash } = description
  return (
    <AnimatedSeal
      state={leafHash ? { kind: 'sealed', leafHash } : { kind: 'idle' }}
      label={t(leafHash ? 'verify.seal.record' : 'verify.seal.none')}
      small={small}
      className={className}
    />
  )
}

export function VerdictLabel({ description }: { description: VerdictDescription }) {
  const { t } = useTranslation()
  const isGood = description.leafHash !== undefined
  return (
    <p
      className={`flex shrink-0 items-center gap-2 whitespace-nowrap font-semibold ${isGood ? 'text-success' : 'text-ink-soft'}`}
    >
      <Icon name={isGood ? 'check' : 'dashed'} className="size-5" />
      {t(`verify.word.${description.key}`)}
    </p>
  )
}

/**
 * The verdict as a sentence, with the time in the person's time zone and in UTC, because people
 * copy and print the sentence alone.
 */
export function VerdictSentence({
  description,
  company
}: {
  description: VerdictDescription
  company: string
}) {
  const { locale, t } = useTranslation()
  return (
    <Around text={t(`verify.sentence.${description.key}`, { company, time: marker })}>
      <time dateTime={description.time}>{formatExactTime(new Date(description.time), locale)}</time>
    </Around>
  )
}

/**
 * Marks the position of an element in a translated sentence. No translation or name contains this
 * character.
 */
const marker = '\u{1}'

function Around({ text, children }: { text: string; children: React.ReactNode }) {
  const [before, after] = text.split(marker)
  return (
    <>
      {before}
      {children}
      {after}
    </>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="font-semibold">{name}</dt>
      <dd className="min-w-0 max-sm:-mt-3">{children}</dd>
    </>
  )
}

function Fingerprint({ sha256 }: { sha256: string }) {
  const { t } = useTranslation()
  return (
    <span className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
      <code className="fingerprint min-w-0">
        {groupsOfFour(sha256).map(({ at, digits }) => (
          <span key={at} className="me-2">
            {digits}
            <wbr />
          </span>
        ))}
      </code>
      <CopyButton text={sha256} label={t('verify.copy')} />
    </span>
  )
}

function groupsOfFour(hex: string): { at: number; digits: string }[] {
  return Array.from({ length: hex.length / 4 }, (_, index) => ({
    at: index,
    digits: hex.slice(4 * index, 4 * index + 4)
  }))
}
