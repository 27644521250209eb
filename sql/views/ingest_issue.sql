-- Everything that ingest noticed about files and mappings without rejecting a row, errors first.
-- example: Which entries of op_mapping.yaml could not be used, and why?
create or replace view ingest_issue as
select v.version_key, f.file_name, i.severity, i.reason, i.line_number, i.column_name, i.message
from source_issue as i
left join source_file as f using (file_id)
left join profile_version as v on v.version_id = i.version_id
order by i.severity, v.version_key, f.file_name nulls first, i.line_number, i.column_name, i.reason, i.message;
comment on view ingest_issue is 'One row per warning or error of ingest [source: source_issue]';
comment on column ingest_issue.version_key is 'Version concerned [profile_version.version_key]';
comment on column ingest_issue.file_name is 'File concerned, null for op_mapping.yaml and folders [source_file.file_name]';
comment on column ingest_issue.severity is 'warning, or error when the file or entry is unusable [text, source_issue.severity]';
comment on column ingest_issue.reason is 'Kind of issue [identifier, source_issue.reason]';
comment on column ingest_issue.line_number is 'Physical line, null when it concerns the whole file [count]';
comment on column ingest_issue.column_name is 'CSV column or mapping key concerned [text, source_issue.column_name]';
comment on column ingest_issue.message is 'What, where, and what to do [text, source_issue.message]';
