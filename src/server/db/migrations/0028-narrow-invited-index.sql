-- People who have answered their invitation need no entry.
drop index user_invited;
create index user_invited on "user" (company_id, invited_at, id)
  where state = 'invited' and deleted_at is null;
