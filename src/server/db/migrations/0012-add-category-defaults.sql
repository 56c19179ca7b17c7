-- Whether pictures are kept as they are: `no`, as the `person` chooses, or `yes`. It replaces
-- `keep_originals`, which the previous release still reads.
alter table category
  add column originals text not null default 'person' check (originals in ('no', 'person', 'yes')),
  -- The category of a deposit that names none; its company has one at most.
  add column is_default boolean not null default false;

-- The owner may be bound by the policies, and must see the rows of every company.
alter table category no force row level security;
update category set originals = 'yes' where keep_originals;

update category c set is_default = true
  where not exists (
    select from category older
    where older.company_id = c.company_id and (older.created_at, older.id) < (c.created_at, c.id)
  );
alter table category force row level security;

create unique index category_default on category (company_id) where is_default;

-- Finds the open upload of a file that its person chooses once more.
create index upload_own on upload (company_id, user_id, original) where state = 'uploading';
