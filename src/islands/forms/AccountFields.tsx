import type { ReactNode } from 'react'
import { useTranslation } from '../kit/use-translation.ts'
import { Field } from './Field.tsx'

// Pages must pass the translations `account` and `fields` to islands that use these fields.

interface EmailFieldProps {
  /** `username` identifies an existing account to password managers. */
  use: 'email' | 'username'
  label?: string
  initial?: string | undefined
}

export function EmailField({ use, label, initial }: EmailFieldProps) {
  const { t } = useTranslation()
  return (
    <Field
      label={label ?? t('account.email')}
      name="email"
      type="email"
      autoComplete={use}
      initial={initial}
    />
  )
}

interface AccountPageLinkProps {
  path: string
  children: ReactNode
}

/** The site's script adds the query parameters of an invitation to the link. */
export function SignInOrUpLink({ path, children }: AccountPageLinkProps) {
  return (
    <a className="link link-secondary" data-keeps-link-params href={path} suppressHydrationWarning>
      {children}
    </a>
  )
}
