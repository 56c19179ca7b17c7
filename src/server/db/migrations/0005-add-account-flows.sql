-- Sign-ups whose e-mail nobody has confirmed yet. The id becomes the person's. Several may wait for one
-- e-mail: whoever can read its mail decides which of them was theirs.
create table signup (
  company_id uuid not null references company (id),
  id uuid not null,
  email text not null,
  username text not null,
  locale text not null check (locale in ('en', 'fr', 'und')),
  -- as in user_key, sealed for the place where it will lie
  key_id uuid not null,
  kdf text not null,
  pub_enc bytea not null,
  kek_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (company_id, id)
);
create index signup_email on signup (company_id, email, created_at desc);

-- A session belongs to a person, or to a sign-up that becomes one with the same id.
alter table session drop constraint session_company_id_user_id_fkey;
alter table session add foreign key (company_id) references company (id);
alter table session add column pending boolean not null default false;

alter table "user"
  -- when the invitation was made; null for those who came by themselves
  add column invited_at timestamptz,
  -- of the row only the id and what records name are left
  add column deleted_at timestamptz;

-- A new e-mail with its key, until the new address confirms.
create table email_change (
  company_id uuid not null,
  user_id uuid not null,
  email text not null,
  key_id uuid not null,
  kdf text not null,
  pub_enc bytea not null,
  kek_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (company_id, user_id),
  foreign key (company_id, user_id) references "user" (company_id, id)
);

-- What a mailed link proves, once. Only the hash: who reads this table can open no link.
create table mail_token (
  company_id uuid not null references company (id),
  hash bytea not null,
  purpose text not null check (purpose in ('verify', 'activate', 'reset', 'email')),
  -- a sign-up for 'verify', else a person
  subject uuid not null,
  email text not null,
  -- the person's key when the mail was sent: another one since makes the link worthless
  key_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (company_id, hash)
);
create index mail_token_subject on mail_token (company_id, subject);

-- Mails to send, written in the transaction of what they tell of, and removed once a server took them.
-- A requested one is looked up when it is sent, so that asking tells nothing about who exists.
create table mail (
  company_id uuid not null references company (id),
  id uuid not null,
  kind text not null check (kind in (
    'signup', 'activate', 'reset', 'email_confirm', 'email_notice', 'password_changed', 'account_deleted'
  )),
  email text not null,
  locale text not null check (locale in ('en', 'fr', 'und')),
  -- the host whose name, colours and address it bears
  host text not null,
  subject uuid,
  created_at timestamptz not null,
  next_at timestamptz not null,
  attempts integer not null default 0,
  primary key (company_id, id)
);
create index mail_next on mail (company_id, next_at);

grant select, insert, update, delete on signup, email_change, mail_token, mail to vidimus_app;
-- the key of somebody who is deleted goes with them
grant delete on user_key to vidimus_app;

do $$
declare
  name text;
begin
  foreach name in array array['signup', 'email_change', 'mail_token', 'mail'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
    -- a demonstration is removed with all its rows
    execute format('grant select (company_id), delete on %I to vidimus_resolver', name);
  end loop;
end $$;
