import { useStore } from '@nanostores/react'
import { useState } from 'react'
import type { RegisterImport } from '../../contract/register-imports.ts'
import { formatBytes, formatPercent } from '../../core/text/format.ts'
import {
  $registerUpload,
  continueRegisterUpload,
  findRememberedUpload,
  pauseRegisterUpload,
  startRegisterUpload
} from '../../stores/imports/register-uploads.ts'
import { DropZone } from '../files/DropZone.tsx'
import { useOnFilesReceived } from '../files/use-on-files-received.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'

/** Sends the file, or says how the upload of another visit goes on. */
export function RegisterUploadPanel({ item }: { item: RegisterImport }) {
  const upload = useStore($registerUpload, { ssr: 'initial' })
  return upload.status !== 'none' && upload.id === item.id ? (
    <OwnUpload upload={upload} />
  ) : (
    <OtherUpload item={item} />
  )
}

type Started = Exclude<ReturnType<typeof $registerUpload.get>, { status: 'none' }>

function OwnUpload({ upload }: { upload: Started }) {
  const { locale, t } = useTranslation()
  const { status, bytes, sent } = upload
  const share = bytes > 0 ? sent / bytes : 0
  const quarter = Math.floor(share * 4) / 4
  const label = t(`registerImports.upload.${status}`)
  return (
    <div className="flex flex-col gap-3" data-upload={status}>
      <p className="meta tabular">
        {label}
        {' · '}
        {t('registerImports.upload.of', {
          sent: formatBytes(sent, locale),
          bytes: formatBytes(bytes, locale)
        })}
      </p>
      <ProgressBar label={label} ratio={share} />
      <p role="status" className="sr-only">
        {label} {quarter > 0 && formatPercent(quarter, locale)}
      </p>
      {status === 'failed' && <ErrorNote error={upload.error} />}
      {status === 'sending' && (
        <>
          <p className="text-ink-soft">{t('registerImports.upload.stay')}</p>
          <button
            type="button"
            className="btn btn-outline btn-sm self-start"
            onClick={pauseRegisterUpload}
          >
            {t('registerImports.upload.pause')}
          </button>
        </>
      )}
      {(status === 'paused' || status === 'failed') && (
        <button
          type="button"
          className="btn btn-primary self-start"
          onClick={() => void continueRegisterUpload()}
        >
          {t('registerImports.upload.continue')}
        </button>
      )}
    </div>
  )
}

function OtherUpload({ item }: { item: RegisterImport }) {
  const { t } = useTranslation()
  const [isOther, setOther] = useState(false)
  const remembered = findRememberedUpload(item.id)
  const take = ([file]: File[]) => {
    if (!file || !remembered) return
    const isSame = file.size === remembered.bytes
    setOther(!isSame)
    if (isSame) void startRegisterUpload(remembered, file)
  }
  useOnFilesReceived('import', take)
  return (
    <div className="flex flex-col gap-3" data-upload="elsewhere">
      <p>{t('registerImports.upload.elsewhere')}</p>
      {remembered ? (
        <>
          <DropZone
            to="import"
            label={t('registerImports.upload.choose', { name: remembered.name })}
            hint={t('registerImports.upload.chooseHint')}
            onFiles={take}
          />
          {isOther && (
            <p role="alert" className="text-error">
              {t('registerImports.upload.other', { name: remembered.name })}
            </p>
          )}
        </>
      ) : (
        <p className="text-ink-soft">{t('registerImports.upload.lost')}</p>
      )}
    </div>
  )
}
