import type { Import } from '../../contract/imports.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { userImportKind } from '../../stores/imports/user-imports.ts'
import type { InvitationLinksProps } from '../details/InvitationLinksDownload.tsx'
import { useHasMailServer } from '../details/use-has-mail-server.ts'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { ImportWizard } from './ImportWizard.tsx'
import { UserImportOptionsForm } from './UserImportOptionsForm.tsx'

const InvitationLinksDownload = lazyComponent<InvitationLinksProps>(
  async () => (await import('../details/InvitationLinksDownload.tsx')).InvitationLinksDownload
)

const example = { email: 'ann@example.com', username: 'Ann Example', groups: 'A; B' }

export function UserImportWizard() {
  const { locale, t } = useTranslation()
  const hasMailServer = useHasMailServer()
  const undoQuestion = ({ result, counts }: Import) => {
    const { created, changed } = result ?? {
      created: counts?.new ?? 0,
      changed: counts?.changed ?? 0
    }
    if (created === 0)
      return {
        question: t('imports.users.undo.changed', { count: changed }),
        yes: t('imports.users.undo.undoChanges'),
        no: t('imports.users.undo.keepChanges')
      }
    return {
      question: t('imports.users.undo.created', { count: created }),
      yes: t('imports.users.undo.remove', { count: created }),
      no: t('imports.users.undo.keep', { count: created })
    }
  }
  function counted<Name extends 'created' | 'changed' | 'removed' | 'restored' | 'kept'>(
    counts: Record<Name, number>,
    names: readonly Name[],
    none: 'none' | 'noneUndone'
  ): string {
    const parts = names
      .filter(name => counts[name] > 0)
      .map(name => t(`imports.users.counts.${name}`, { count: counts[name] }))
    return parts.join(', ') || t(`imports.users.counts.${none}`)
  }
  const people = pageHref(locale, 'users', { company: companyIdOfPage() })
  return (
    <ImportWizard
      kind={userImportKind}
      labels={{
        email: t('imports.users.fields.email'),
        username: t('imports.users.fields.username'),
        surname: t('imports.users.fields.surname'),
        groups: t('imports.users.fields.groups'),
        locale: t('imports.users.fields.locale')
      }}
      hints={{
        email: t('imports.users.hints.email'),
        username: t('imports.users.hints.username'),
        surname: t('imports.users.hints.surname'),
        groups: t('imports.users.hints.groups'),
        locale: t('imports.users.hints.locale')
      }}
      // as: a code that is newer than this page is shown as it is
      reasonText={({ field, code, value = '', row = 0 }) =>
        t(`imports.reasons.${field}.${code}` as 'imports.reasons.groups.unknown', { value, row })
      }
      keptText={kept => t(`imports.kept.${kept}`)}
      runLabel={count => t('imports.users.run', { count })}
      undoQuestion={undoQuestion}
      undoneText={undone => counted(undone, ['removed', 'restored', 'kept'], 'noneUndone')}
      resultText={result => counted(result, ['created', 'changed'], 'none')}
      template={{ name: t('imports.users.templateName'), cells: { ...example, locale } }}
      Options={UserImportOptionsForm}
      summary={({ options }) =>
        t(
          hasMailServer
            ? `imports.users.summary.${options.send_invitations ? 'now' : 'later'}`
            : 'imports.users.options.unmailed'
        )
      }
      result={
        <a className="link" href={people}>
          {t('imports.users.all')}
        </a>
      }
      next={({ id, result }) =>
        !hasMailServer &&
        result &&
        result.created > 0 && (
          <>
            <InvitationLinksDownload people={{ filter: { import: id } }} />
            <PasswordPrompt />
          </>
        )
      }
    />
  )
}
