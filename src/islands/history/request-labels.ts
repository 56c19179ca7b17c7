import type { ProcessedRequest, RequestState } from '../../contract/requests.ts'
import type { SealState } from '../../core/evidence/seal-drawing.ts'
import { type StateWithLook, sealOfState, stateColorClass } from '../../core/pages/state-looks.ts'
import { withoutDirectionControls } from '../../core/text/visible-text.ts'
import type { Translate } from '../../i18n/index.ts'
import { $verifiedFileNamesByRequest } from '../../stores/verified-file-names.ts'

/** Only this browser knows the names of verified files. */
export function requestName({ id, kind, name, items }: ProcessedRequest, t: Translate): string {
  if (kind === 'verify') {
    const names = $verifiedFileNamesByRequest.get().get(id) ?? []
    const first = names[0] ?? name
    const count = items?.asked ?? 1
    if (first === undefined) return t('history.check', { count })
    const others = (names.length || count) - 1
    const words = { name: withoutDirectionControls(first) }
    if (others === 0) return t('history.checkNamed', words)
    return t('history.checkNamedOthers', { ...words, count: others })
  }
  return name === undefined ? t('history.document') : withoutDirectionControls(name)
}

/** `'2 on record, 1 not on record'` */
export function verifiedCounts(items: VerifiedItems, t: Translate): string {
  const counts = [
    ['found', items.authentic],
    ['listed', items.known_to_register ?? 0],
    ['missing', items.not_found],
    ['unanswered', items.indeterminate ?? 0]
  ] as const
  return counts
    .filter(([name, count]) => count > 0 || name === 'found' || name === 'missing')
    .map(([name, count]) => t(`history.counts.${name}`, { count }))
    .join(', ')
}

type VerifiedItems = NonNullable<ProcessedRequest['items']>

export function requestStateLabel(
  { kind, state, verdict, match, rung }: ProcessedRequest,
  t: Translate
): string {
  if (rung && rung !== 'recorded') return t(`history.states.${rung}`)
  if (kind === 'verify' && state === 'done' && verdict) {
    return t(`history.verdicts.${verdict === 'authentic' ? (match ?? 'original') : verdict}`)
  }
  return t(`history.states.${kind === 'verify' && state === 'done' ? 'checked' : state}`)
}

/** The filter tells `queued` from `processing`; rows have one word for both. */
export function stateFilterLabel(state: RequestState, t: Translate): string {
  return t(state === 'queued' ? 'history.filters.queued' : `history.states.${state}`)
}

export function requestColorClass(request: ProcessedRequest): string {
  const state = lookOf(request)
  return state ? stateColorClass(state) : 'text-ink-soft'
}

export function sealStateOfRequest(request: ProcessedRequest): SealState {
  const state = lookOf(request)
  return state ? sealOfState(state, request.leaf_hash) : { kind: 'idle' }
}

// undefined for states that only the history shows
function lookOf({
  kind,
  state,
  verdict,
  match,
  rung
}: ProcessedRequest): StateWithLook | undefined {
  if (state === 'cancelled' || state === 'failed' || state === 'rejected') return state
  if (kind === 'verify') {
    return verdict === 'authentic' ? (match ?? 'original') : verdict
  }
  if (state === 'uploading') return 'unfinished'
  if (state === 'queued' || state === 'processing') return 'recording'
  return state === 'done' ? (rung ?? 'recorded') : undefined
}

export function isDownloadable({
  kind,
  state,
  deposit_id,
  store,
  erased
}: ProcessedRequest): boolean {
  const isStored = store !== 'fingerprint' && erased === undefined
  return kind === 'deposit' && state === 'done' && !!deposit_id && isStored
}
