import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Domain } from '../../contract/domains.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { hostFault, type IsTopLevel, normalizeTypedHost } from '../../core/input/domain-name.ts'
import { firstFaultOf, required } from '../../core/input/validators.ts'
import type { Translate } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { createDomain, findDomain } from '../../stores/admin/domains.ts'
import { navigate } from '../../stores/navigation.ts'
import { Field, fieldErrorText } from '../forms/Field.tsx'
import { Form } from '../forms/Form.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm } from '../forms/use-form.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { WizardSteps } from './WizardSteps.tsx'

export const CreateDomain = withTranslation(function CreateDomain() {
  const { locale, t } = useTranslation()
  const [host, setHost] = useState('')
  const isTopLevel = useTopLevels()
  const [claimed, setClaimed] = useState<Domain>()
  const fault = (value: unknown) =>
    hostFault(normalizeTypedHost(String(value ?? '')), isTopLevel.current)
  const form = useForm({
    what: 'Creating the domain failed',
    rules: { host: firstFaultOf(required, fault) },
    codeErrors: {
      host_taken: { host: { rule: 'taken' } },
      host_not_allowed: { host: { rule: 'host_refused' } }
    },
    async send(values, key) {
      const wanted = normalizeTypedHost(values['host'] ?? '')
      try {
        const { id } = await createDomain({ host: wanted }, key)
        await navigate(`${pageOf(id)}?step=records`, { replace: true })
      } catch (cause) {
        if (!(cause instanceof AppError) || cause.code !== 'host_taken') throw cause
        setClaimed(await findDomain(wanted).catch(() => undefined))
        throw cause
      }
    }
  })
  const pageOf = (id: string) =>
    pageHref(locale, 'domain', { company: companyIdOfPage(), domain: id })
  // what was typed before the page's script ran
  const readTyped = useEffectEvent(() => setHost(normalizeTypedHost(form.read()['host'] ?? '')))
  useEffect(() => readTyped(), [])
  const isFinished = host !== '' && fault(host) === undefined
  const isClaimed = claimed?.host === host
  const isTaken = form.errors['host']?.rule === 'taken'
  const error = isTaken
    ? t(isClaimed ? 'domains.create.claimed' : 'domains.create.taken')
    : fieldErrorText(form.errors, 'host', t)
  return (
    <>
      <WizardSteps step="host" />
      <Form form={form} submit={t('domains.create.submit')} isSheet className="max-w-2xl gap-6">
        <Field
          label={t('domains.create.host')}
          name="host"
          autoComplete="off"
          spellCheck={false}
          mono
          hint={t('domains.create.hint')}
          error={error ?? unfinished(host, isTopLevel.current, t)}
          onInput={event => setHost(normalizeTypedHost(event.currentTarget.value))}
        >
          <p role="status" className="wrap-anywhere text-ink-soft text-sm empty:hidden">
            {isFinished && !isTaken && hostWords(host, t)}
          </p>
          {isClaimed && (
            <p className="wrap-anywhere text-sm">
              <a className="link" href={pageOf(claimed.id)}>
                {t('domains.create.open', { host })}
              </a>
            </p>
          )}
        </Field>
      </Form>
      {!isClaimed && <UnsavedGuard form={form} />}
      <PasswordPrompt />
    </>
  )
})

// further characters may still make any other host valid
function unfinished(host: string, isTopLevel: IsTopLevel, t: Translate): string | undefined {
  const fault = hostFault(host, isTopLevel)
  const isFinal = fault && ['max', 'host_label', 'host_characters', 'host_star', 'host_api']
  if (!isFinal?.includes(fault?.rule ?? '')) return undefined
  return fieldErrorText({ host: fault ?? { rule: 'format' } }, 'host', t)
}

function hostWords(host: string, t: Translate): string {
  return host.startsWith('*.')
    ? t('domains.create.wildcard', { base: host.slice(2), example: `archive.${host.slice(2)}` })
    : t('domains.create.both', { host, api: `api.${host}` })
}

function useTopLevels() {
  const isTopLevel = useRef<IsTopLevel>(() => true)
  useEffect(() => {
    const isLocal = /(?:^|\.)localhost$/.test(location.hostname)
    import('../../core/input/top-level-domains.ts').then(
      ({ topLevelDomains }) => {
        isTopLevel.current = label =>
          topLevelDomains.has(label) || (isLocal && label === 'localhost')
      },
      // the server judges the host, too
      () => {}
    )
  }, [])
  return isTopLevel
}
