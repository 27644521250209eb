-- Proof per version that no row was lost: rows read = stored + rejected + without latency.
-- example: Does every row of every version end in exactly one place?
create or replace view ingest_balance as
with stored as (
    select file_id, count(*) as row_count from measurement group by file_id
), rejected as (
    select file_id, count(*) as row_count from rejected_row group by file_id
), unmeasured as (
    select file_id, count(*) as row_count from unmeasured_row group by file_id
)
select v.version_key, count(f.file_id) as file_count, count(*) filter (f.status <> 'loaded') as unusable_file_count,
    coalesce(sum(f.rows_read), 0)::bigint as rows_read, coalesce(sum(s.row_count), 0)::bigint as rows_stored,
    coalesce(sum(r.row_count), 0)::bigint as rows_rejected, coalesce(sum(u.row_count), 0)::bigint as rows_without_latency,
    (coalesce(sum(f.rows_read), 0) - coalesce(sum(s.row_count), 0) - coalesce(sum(r.row_count), 0)
        - coalesce(sum(u.row_count), 0))::bigint as difference
from profile_version as v
left join source_file as f using (version_id)
left join stored as s using (file_id)
left join rejected as r using (file_id)
left join unmeasured as u using (file_id)
group by v.version_key
order by v.version_key;
comment on view ingest_balance is 'One row per version, rows counted where they are, not where they were announced [source: source_file, measurement, rejected_row, unmeasured_row]';
comment on column ingest_balance.version_key is 'Version [profile_version.version_key]';
comment on column ingest_balance.file_count is 'CSV files of the version [count, source_file]';
comment on column ingest_balance.unusable_file_count is 'Files from which nothing was loaded [count, source_file.status]';
comment on column ingest_balance.rows_read is 'Data rows read [count, source_file.rows_read]';
comment on column ingest_balance.rows_stored is 'Rows in measurement [count]';
comment on column ingest_balance.rows_rejected is 'Rows in rejected_row [count]';
comment on column ingest_balance.rows_without_latency is 'Rows in unmeasured_row [count]';
comment on column ingest_balance.difference is 'Rows read minus the three ends a row can have; must be 0 [count]';
