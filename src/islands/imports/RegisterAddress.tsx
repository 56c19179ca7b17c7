import { type FormEvent, useRef, useState } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import { startRegisterFetch } from '../../stores/imports/register-imports.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { FieldFrame } from '../kit/FieldFrame.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { RegisterMode } from './RegisterMode.tsx'

interface RegisterAddressProps {
  source: DataSource
  onCreated: (id: string) => void
}

/** The page cannot read a file elsewhere, so its columns are those of the last import. */
export function RegisterAddress({ source, onCreated }: RegisterAddressProps) {
  const { t } = useTranslation()
  const input = useRef<HTMLInputElement>(null)
  const [isRefused, setRefused] = useState(false)
  const refuse = () => {
    setRefused(true)
    input.current?.focus()
  }
  const starting = useAction({
    what: 'Fetching the file failed',
    send: async (url: string, key: string) => onCreated(await startRegisterFetch(source, url, key)),
    handle(error) {
      const isOfAddress = Boolean(error.fields?.['url'])
      if (isOfAddress) refuse()
      return isOfAddress
    }
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    const url = input.current?.value.trim() ?? ''
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return refuse()
    setRefused(false)
    void starting.start(url)
  }
  return (
    <details className="flex flex-col gap-3">
      <summary className="link w-fit cursor-pointer">{t('registerImports.address.open')}</summary>
      {source.current ? (
        <form className="mt-3 flex flex-col gap-4" onSubmit={send} noValidate>
          <FieldFrame
            label={t('registerImports.address.label')}
            hint={t('registerImports.address.hint')}
            error={isRefused ? t('registerImports.address.refused') : undefined}
            control={described => (
              <input
                {...described}
                ref={input}
                type="url"
                className={`input w-full ${isRefused ? 'border-error' : ''}`}
                autoComplete="off"
                maxLength={2_000}
                placeholder="https://"
              />
            )}
          />
          <RegisterMode version={source.current.number} />
          {starting.failure && <ErrorNote error={starting.failure} />}
          <div className="flex">
            <BusyButton
              label={t('registerImports.address.start')}
              look="btn-outline"
              isWorking={starting.isWorking}
            />
          </div>
        </form>
      ) : (
        <p className="mt-3 text-ink-soft">{t('registerImports.address.first')}</p>
      )}
    </details>
  )
}
