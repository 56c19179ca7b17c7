import type { DomainDetails } from '../../contract/domains.ts'
import { deleteDomain, reloadDomain } from '../../stores/admin/domains.ts'
import { DeleteWithTypedConfirmation } from '../details/DeleteWithTypedConfirmation.tsx'
import { useTranslation } from '../kit/use-translation.ts'

/**
 * A card that says what stops working without the domain, and deletes the domain permanently after
 * the person has typed its host name.
 */
export function DeleteDomain({ domain }: { domain: DomainDetails }) {
  const { t } = useTranslation()
  const { id, host, state, primary, quarantined_since } = domain
  const isServed = state === 'verified' || state === 'failing'
  const unserved = quarantined_since ? 'domains.delete.unserved' : 'domains.delete.unused'
  const ending = isServed ? 'domains.delete.note' : unserved
  return (
    <DeleteWithTypedConfirmation
      list="domains"
      words={(key, values) => t(`domains.delete.${key}`, values)}
      note={t(primary ? 'domains.delete.primary' : ending)}
      typed={host}
      isOffered={!primary}
      remove={() => deleteDomain(domain)}
      reload={() => reloadDomain(id)}
      done={t('domains.delete.done', { host })}
    />
  )
}
