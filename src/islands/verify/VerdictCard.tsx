import type { Ref } from 'react'
import type { AskedSource, VerificationResult } from '../../contract/verifications.ts'
import {
  iconOfState,
  type StateWithLook,
  sealOfState,
  stateColorClass
} from '../../core/pages/state-looks.ts'
import { describeVerdict, type VerdictDescription } from '../../core/pages/verdict-words.ts'
import { formatBytes, formatExactTime, formatMoment, formatUtc } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import type { Verification } from '../../stores/verifications.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface VerdictProps {
  check: Verification
  answer: VerificationResult
  /** The registers of the whole call. */
  sources: readonly AskedSource[]
}

export function VerdictCard({ ref, ...props }: VerdictProps & { ref?: Ref<HTMLHeadingElement> }) {
  const { check, answer, sources } = props
  const { locale, t } = useTranslation()
  const description = describeVerdict(answer, check.subject, sources)
  return (
    <article className="sheet flex flex-col gap-6" data-verdict={description.key}>
      <div className="flex flex-col items-start gap-4 sm:flex-row sm:gap-6">
        <VerdictSeal description={description} className="size-24" />
        <div className="flex min-w-0 flex-col gap-2">
          <p className="wrap-anywhere text-ink-soft text-sm">
            {check.name ?? t('verify.pasted')}
            {check.size !== undefined && (
              <span className="ms-3">{formatBytes(check.size, locale)}</span>
            )}
          </p>
          <VerdictLabel description={description} />
          {/* the margin keeps the word above it clear of the bar, however large the text is */}
          <h2 ref={ref} tabIndex={-1} className="verdict scroll-mt-12">
            <VerdictSentence description={description} company={answer.company} />
          </h2>
          <VerdictMeaning {...props} />
        </div>
      </div>
      <VerdictFacts {...props} />
    </article>
  )
}

export function VerdictMeaning({ check, answer, sources }: VerdictProps) {
  const { locale, t } = useTranslation()
  const description = describeVerdict(answer, check.subject, sources)
  const time = new Date(description.time)
  const { records, own, findings } = answer
  return (
    <>
      {/* in UTC, the sentence says it */}
      {time.getTimezoneOffset() !== 0 && (
        <p className="text-ink-soft text-sm tabular-nums">{formatUtc(time)}</p>
      )}
      {description.adds.map(add => (
        <p key={add}>{t(`verify.adds.${add}`)}</p>
      ))}
      {records > 1 && <p>{t('verify.records', { count: records })}</p>}
      {own && findings.every(({ leaf_hash }) => leaf_hash !== own.leaf_hash) && (
        <p>{t('verify.own', { time: formatMoment(new Date(own.recorded), locale) })}</p>
      )}
      {own && (
        <a
          className="link link-secondary self-start print:hidden"
          href={`${localizedPath(locale, '/history')}?request=${own.request_id}`}
        >
          {t('verify.ownDetails')}
        </a>
      )}
    </>
  )
}

export function VerdictFacts({ check, answer, sources }: VerdictProps) {
  const { locale, t } = useTranslation()
  const { subject } = check
  const description = describeVerdict(answer, subject, sources)
  const { company, sha256 } = answer
  return (
    <div className="flex flex-col gap-4">
      {description.leafHash && (
        <dl className={factGrid}>
          <Fact name={t('verify.proves.title')}>
            {t(`verify.proves.${subject === 'fingerprint' ? subject : 'file'}`, { company })}
          </Fact>
          <Fact name={t('verify.provesNot.title')}>{t('verify.provesNot.text')}</Fact>
        </dl>
      )}
      <RegisterFacts answer={answer} sources={sources} />
      <p className="text-ink-soft text-sm">
        {description.leafHash && <>{t('verify.time', { company })} </>}
        <Around text={t('verify.address', { host: marker })}>
          <b className="text-base-content">{location.host}</b>
        </Around>
      </p>
      <details data-prints>
        <summary className="w-fit cursor-pointer text-secondary text-sm print:hidden">
          {t('verify.details')}
        </summary>
        <dl className={`${factGrid} pt-3`}>
          {sha256 && (
            <Fact name={t('verify.fingerprint')}>
              <Fingerprint sha256={sha256} />
            </Fact>
          )}
          <Fact name={t('verify.checked')}>
            <time dateTime={answer.at}>{formatExactTime(new Date(answer.at), locale)}</time>
          </Fact>
        </dl>
      </details>
    </div>
  )
}

// all registers that were asked, with the version that answered and the values that it shows
function RegisterFacts({ answer, sources }: Omit<VerdictProps, 'check'>) {
  const { locale, t } = useTranslation()
  const asked = sources.flatMap(source => {
    const found = answer.sources.find(({ id }) => id === source.id)
    return found ? [{ ...source, ...found }] : []
  })
  return asked.map(({ id, name, version, at, result, values = [] }) => (
    <dl key={id} className={factGrid} data-register={result}>
      <Fact name={t('verify.register')}>
        {t(`verify.registers.${result}`, {
          name,
          version,
          time: formatMoment(new Date(at), locale)
        })}
      </Fact>
      {values.map(({ labels, value }) => (
        <Fact key={labels[locale]} name={labels[locale]}>
          <bdi className="wrap-anywhere">{value}</bdi>
        </Fact>
      ))}
    </dl>
  ))
}

const factGrid = 'grid gap-4 text-sm sm:grid-cols-[max-content_1fr] sm:gap-x-6'

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
      state={sealOfState(stateOfVerdict(description), leafHash)}
      label={t(`verify.seal.${sealLabelOf(description)}`)}
      small={small}
      className={className}
    />
  )
}

function sealLabelOf({ leafHash, adds, key }: VerdictDescription) {
  if (leafHash) return 'record'
  if (adds.includes('not_sealed')) return 'unsealed'
  return key === 'known_to_register' ? 'listed' : 'none'
}

export function VerdictLabel({ description }: { description: VerdictDescription }) {
  const { t } = useTranslation()
  const state = stateOfVerdict(description)
  return (
    <p
      className={`flex shrink-0 items-center gap-2 whitespace-nowrap font-semibold ${stateColorClass(state)}`}
    >
      <Icon name={iconOfState(state)} className="size-5" />
      {t(`verify.word.${description.key}`)}
    </p>
  )
}

function stateOfVerdict({ key }: VerdictDescription): StateWithLook {
  return key === 'fingerprint_not_found' ? 'not_found' : key
}

export function VerdictSentence({
  description,
  company
}: {
  description: VerdictDescription
  company: string
}) {
  const { locale, t } = useTranslation()
  const { sentence, register, count } = description
  return (
    <Around text={t(`verify.sentence.${sentence}`, { company, register, count, time: marker })}>
      <time dateTime={description.time}>{formatMoment(new Date(description.time), locale)}</time>
    </Around>
  )
}

// no translation or name contains this character
const marker = '\u{1}'

function Around({ text, children }: { text: string; children: React.ReactNode }) {
  const [before, after] = text.split(marker)
  return (
    <>
      {before}
      {after !== undefined && children}
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
