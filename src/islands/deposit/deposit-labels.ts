import type { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { SealState } from '../../core/evidence/seal-drawing.ts'
import { sealOfState } from '../../core/pages/state-looks.ts'
import {
  formatBytes,
  formatDateTime,
  formatPercent,
  formatSpeed,
  formatTimeWithSeconds,
  roundTimeLeft
} from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import type { DepositState } from '../../stores/deposits/deposit-states.ts'

export function sealStateOfDeposit(state: DepositState): SealState {
  switch (state.status) {
    case 'waiting':
    case 'failed':
    case 'cancelled':
    case 'recording':
      return sealOfState(state.status)
    case 'hashing':
      return { kind: 'hashing', progress: state.ratio }
    case 'preparing':
    case 'choosing':
    case 'reserving':
      return { kind: 'even' }
    case 'uploading':
    case 'paused':
    case 'missing':
      return { kind: 'uploading', progress: state.ratio }
    case 'done':
    case 'duplicate':
      return sealOfState(state.request.rung ?? 'recorded', state.request.leaf_hash)
  }
}

export function depositStateLabel(
  state: DepositState,
  t: Translate,
  locale: Locale,
  name: string
): string {
  switch (state.status) {
    case 'hashing':
      return t('deposit.state.hashing', { percent: formatPercent(state.ratio, locale) })
    case 'uploading':
      return uploadingWords(state, t, locale)
    case 'paused': {
      if (state.by === 'session') return t('deposit.state.signedOut')
      if (state.by === 'limit') return t('deposit.state.limited')
      if (state.ratio === 0) return t('deposit.state.paused')
      return t('deposit.state.pausedAt', { percent: formatPercent(state.ratio, locale) })
    }
    case 'missing': {
      if (state.ratio === 0) return t('deposit.state.missing', { name })
      const percent = formatPercent(state.ratio, locale)
      return t('deposit.state.missingAt', { name, percent })
    }
    case 'duplicate': {
      const date = formatDateTime(new Date(state.request.created), locale)
      return t('deposit.state.duplicate', { date })
    }
    case 'done':
      return recordLabel(state.request, t, locale)
    case 'failed':
      return depositErrorText(state.error, t, locale) ?? t(`errors.${state.error.code}`)
    default:
      return t(`deposit.state.${state.status}`)
  }
}

function recordLabel(
  { rung, sealed, store }: ProcessedRequest,
  t: Translate,
  locale: Locale
): string {
  if (rung === 'sealing_paused') return t('deposit.state.sealing_paused')
  if (rung === 'sealed' && sealed !== undefined) {
    return t('deposit.state.sealedAt', { time: formatTimeWithSeconds(new Date(sealed), locale) })
  }
  if (rung === 'sealed') return t('deposit.state.sealed')
  return t(`deposit.state.${store === 'fingerprint' ? 'doneFingerprint' : 'done'}`)
}

function uploadingWords(
  state: Extract<DepositState, { status: 'uploading' }>,
  t: Translate,
  locale: Locale
): string {
  const percent = formatPercent(state.ratio, locale)
  if (state.cut) return t('deposit.state.cut', { percent })
  if (state.bytesPerSecond === undefined) return t('deposit.state.uploading', { percent })
  const speed = formatSpeed(state.bytesPerSecond, locale)
  if (state.secondsLeft === undefined) return t('deposit.state.uploadingSpeed', { percent, speed })
  const { unit, value } = roundTimeLeft(state.secondsLeft)
  const left = t(`deposit.left.${unit}`, { count: value })
  return t('deposit.state.uploadingLeft', { percent, speed, left })
}

/** Returns the sentence for an error whose standard text lacks details. */
export function depositErrorText(
  error: AppError,
  t: Translate,
  locale: Locale
): string | undefined {
  const { figures, fields } = error
  if (error.code === 'storage_limit_reached' && figures) {
    const used = formatBytes(figures.used, locale)
    return t('errors.storage_limit_reached', {
      used,
      limit: formatBytes(figures.limit, locale)
    })
  }
  const rule = fields?.['name']
  if (rule) {
    const why = t(`fields.${rule.rule}`, { limit: rule.limit ?? '' })
    return t('deposit.nameRefused', { why })
  }
  return undefined
}
