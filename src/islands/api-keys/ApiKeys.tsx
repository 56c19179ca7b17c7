import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import type { ApiKey, ApiKeyWithSecret } from '../../contract/api-keys.ts'
import { formatDateTime } from '../../core/text/format.ts'
import {
  $apiKeys,
  type KeyOwner,
  loadApiKeys,
  renewApiKey,
  revokeApiKey
} from '../../stores/accounts/api-keys.ts'
import { InPlaceEditor } from '../forms/InPlaceEditor.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { CopyButton } from '../kit/CopyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { LoadStatus } from '../kit/LoadStatus.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { relativeTime, useNow } from '../kit/time.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { apiKeyTranslator, CreateKey } from './CreateKey.tsx'

/**
 * Keys of another `person` can only be revoked. The page must pass the translations `account`,
 * `errors`, `fields` and `common`.
 */
export function ApiKeys({ company, person }: KeyOwner) {
  const { locale } = useTranslation()
  const say = apiKeyTranslator(locale)
  const list = useStore($apiKeys, { ssr: 'initial' })
  const [made, setMade] = useState<ApiKeyWithSecret>()
  const title = useRef<HTMLHeadingElement>(null)

  useEffect(() => void loadApiKeys({ company, person }), [company, person])

  const revoking = useAction({
    what: 'Revoking the key failed',
    async send({ id, name }: ApiKey) {
      await revokeApiKey({ company, person }, id)
      if (made?.id === id) setMade(undefined)
      // the pressed button no longer exists
      title.current?.focus()
      renewing.reset()
      return name
    }
  })
  const renewing = useAction({
    what: 'Renewing the key failed',
    async send({ id, name }: ApiKey) {
      await renewApiKey(company, id)
      revoking.reset()
      return name
    }
  })
  const note = person ? 'notePerson' : company ? 'noteCompany' : 'note'

  return (
    <Section
      id="keys"
      ref={title}
      title={say('title')}
      note={
        <>
          {say(note)}{' '}
          <a className="link" href={pageHref(locale, 'docs', {})}>
            {say('docs')}
          </a>
        </>
      }
    >
      {made && (
        <NewKey
          made={made}
          close={() => {
            setMade(undefined)
            title.current?.focus()
          }}
        />
      )}
      <LoadStatus state={list} retry={() => loadApiKeys({ company, person })} />
      {list.status === 'ready' && list.rows.length === 0 && (
        <p className="text-ink-soft">{say(person ? 'nonePerson' : 'none')}</p>
      )}
      {list.status === 'ready' && list.rows.length > 0 && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.rows.map(key => (
            <Row
              key={key.id}
              apiKey={key}
              isWorking={revoking.isWorking || renewing.isWorking}
              renew={person === undefined ? () => void renewing.start(key) : undefined}
              revoke={() => void revoking.start(key)}
            />
          ))}
        </ul>
      )}
      <p role="status" className="wrap-anywhere text-sm empty:hidden">
        {revoking.result && say('revoked', { name: revoking.result })}
        {renewing.result && say('renewed', { name: renewing.result })}
      </p>
      {revoking.failure && <ErrorNote error={revoking.failure} />}
      {renewing.failure && <ErrorNote error={renewing.failure} />}
      {person === undefined && (
        <>
          <InPlaceEditor label={say('create')} look="btn-outline">
            {close => (
              <CreateKey
                company={company}
                done={key => {
                  revoking.reset()
                  renewing.reset()
                  setMade(key)
                }}
                close={close}
              />
            )}
          </InPlaceEditor>
          <PasswordPrompt />
        </>
      )}
    </Section>
  )
}

function NewKey({ made, close }: { made: ApiKeyWithSecret; close: () => void }) {
  const { locale } = useTranslation()
  const say = apiKeyTranslator(locale)
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => box.current?.focus(), [])

  return (
    <section
      ref={box}
      tabIndex={-1}
      className="alert alert-info alert-outline flex flex-col items-start gap-2"
      aria-label={say('new.label', { name: made.name })}
    >
      <p className="wrap-anywhere font-semibold text-base-content">
        {say('new.label', { name: made.name })}
      </p>
      <p className="break-all font-mono text-base-content text-sm">{made.key}</p>
      <CopyButton text={made.key} label={say('new.copy')} />
      <p className="text-base-content">{say('new.once')}</p>
      <button type="button" className="btn btn-outline btn-sm" onClick={close}>
        {say('new.close')}
      </button>
    </section>
  )
}

interface RowProps {
  apiKey: ApiKey
  isWorking: boolean
  renew: (() => void) | undefined
  revoke: () => void
}

function Row({ apiKey, isWorking, renew, revoke }: RowProps) {
  const { locale } = useTranslation()
  const say = apiKeyTranslator(locale)
  const now = useNow(60_000)
  const [isAsking, setAsking] = useState(false)
  const { name, hint, scopes, group, created_by, created, expires, last_used } = apiKey
  const time = (at: string) => formatDateTime(new Date(at), locale)
  const isOver = now !== undefined && Date.parse(expires) <= now
  const used =
    last_used !== null && now !== undefined
      ? say('used', { time: relativeTime(new Date(last_used), now, locale) })
      : say('neverUsed')
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-56">
        <p className="wrap-anywhere font-medium">
          {name} <span className="font-mono font-normal text-ink-soft text-sm">{hint}…</span>
        </p>
        <p className="wrap-anywhere">
          {say('may', { acts: scopes.map(scope => say(`scopes.${scope}`)).join(', ') })}
          {group && ` · ${say('of', { group: group.name })}`}
        </p>
        <p className="meta wrap-anywhere">
          {created_by === null || group === null
            ? say('created', { time: time(created) })
            : say('createdBy', { time: time(created), name: created_by })}
        </p>
        <p className="meta">{used}</p>
        <p className={isOver ? 'meta text-warning' : 'meta'}>
          {say(isOver ? 'expired' : 'expires', { time: time(expires) })}
        </p>
      </div>
      {renew && (
        <button
          type="button"
          className="btn btn-outline btn-sm"
          aria-label={say('renewNamed', { name })}
          aria-disabled={isWorking}
          onClick={() => !isWorking && renew()}
        >
          {say('renew')}
        </button>
      )}
      <button
        type="button"
        className="btn btn-outline btn-sm"
        aria-label={say('revokeNamed', { name })}
        aria-disabled={isWorking}
        onClick={() => setAsking(!isWorking)}
      >
        {say('revoke')}
      </button>
      {isAsking && (
        <ConfirmDialog
          question={say('question', { name })}
          yes={say('revoke')}
          no={say('keep')}
          onYes={revoke}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}
