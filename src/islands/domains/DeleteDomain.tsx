import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import type { DomainDetails } from '../../contract/domains.ts'
import { deleteDomain, reloadDomain } from '../../stores/admin/domains.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { DeleteWithTypedConfirmation } from '../details/DeleteWithTypedConfirmation.tsx'
import { useTranslation } from '../kit/use-translation.ts'

export function DeleteDomain({ domain }: { domain: DomainDetails }) {
  const { t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const { id, host, state, primary, quarantined_since, covers } = domain
  const isServed = state === 'verified' || state === 'failing'
  const unserved = quarantined_since ? 'domains.delete.unserved' : 'domains.delete.unused'
  const ending = isServed ? 'domains.delete.note' : unserved
  const isOperator = user?.permissions.includes('operator') === true
  const isRefused = covers.count > 0 && !isOperator
  const isUnnamed = isOperator && covers.count > 0 && covers.hosts.length === 0
  // the answer to a change of the domain does not name them
  useEffect(() => {
    if (isUnnamed) void reloadDomain(id)
  }, [isUnnamed, id])
  const note = isRefused
    ? t('domains.delete.coversOperator', { count: covers.count })
    : t(primary ? 'domains.delete.primary' : ending)
  return (
    <DeleteWithTypedConfirmation
      list="domains"
      words={(key, values) => t(`domains.delete.${key}`, values)}
      note={note}
      typed={host}
      isOffered={!primary && !isRefused && !isUnnamed}
      remove={() => deleteDomain(domain)}
      reload={() => reloadDomain(id)}
      done={t('domains.delete.done', { host })}
    >
      {isOperator && covers.count > 0 && (
        <>
          <p className="prose-width">{t('domains.delete.covers', { count: covers.count })}</p>
          <ul className="wrap-anywhere list-inside list-disc">
            {covers.hosts.map(({ host: covered, company }) => (
              <li key={covered}>{t('domains.delete.coveredOf', { host: covered, company })}</li>
            ))}
          </ul>
        </>
      )}
    </DeleteWithTypedConfirmation>
  )
}
