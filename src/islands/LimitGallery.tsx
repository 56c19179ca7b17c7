import { useState } from 'react'
import { AppError } from '../contract/errors.ts'
import { type Locale, translator, type Words } from '../i18n/index.ts'
import { LimitEditor, type Limits } from './parts/LimitEditor.tsx'

const example: Limits = {
  max_requests: 1000,
  max_requests_interval: 'P1D',
  max_storage: 2_500_000_000
}

/** The limit editor as its users will meet it: to read, to change, and where the change fails. */
export function LimitGallery({ locale, words }: { locale: Locale; words: Words }) {
  const t = translator(locale, words)
  const [limits, setLimits] = useState(example)
  const fail = async () => {
    throw new AppError('forbidden', 'This page changes nothing')
  }
  return (
    <div className="flex flex-col gap-6">
      <section className="sheet" data-example="shown">
        <LimitEditor limits={example} locale={locale} t={t} />
      </section>
      <section className="sheet" data-example="changed">
        <LimitEditor
          limits={limits}
          update={async changed => setLimits(changed)}
          locale={locale}
          t={t}
        />
      </section>
      <section className="sheet" data-example="failing">
        <LimitEditor limits={example} update={fail} locale={locale} t={t} />
      </section>
    </div>
  )
}
