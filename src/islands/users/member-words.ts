import { type Disabled, DisabledReason } from '../../contract/kit/disabled.ts'

/** Returns a reason for disabling, or `other` if this release does not know the reason. */
export function knownReason(reason: string): Disabled['reason'] {
  return DisabledReason.options.find(each => each === reason) ?? 'other'
}
