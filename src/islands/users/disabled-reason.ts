import { DisabledReason, type DisabledState } from '../../contract/kit/disabled.ts'

/**
 * Parses the reason why a person was disabled. Returns `other` for a reason that this release does
 * not know.
 */
export function parseDisabledReason(reason: string): DisabledState['reason'] {
  return DisabledReason.options.find(each => each === reason) ?? 'other'
}
