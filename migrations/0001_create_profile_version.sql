-- Versions that were ingested.
create table profile_version (
    version_id integer primary key,
    version_key varchar not null unique,
    kind varchar not null check (kind in ('kernel', 'communication')),
    folder varchar not null,
    communication_version_id integer,
    mapping_sha256 varchar,
    metadata_json varchar not null,
    ingested_at timestamp not null
);
comment on table profile_version is 'One ingested version directory [source: folder with op_mapping.yaml, or a folder of collective CSVs]';
comment on column profile_version.version_id is 'Identifier of the version in this file [integer]';
comment on column profile_version.version_key is 'device/backend/folder name, the key that commands accept [text]';
comment on column profile_version.kind is 'kernel: folder with op_mapping.yaml; communication: shared folder of hcom_ CSVs [text]';
comment on column profile_version.folder is 'Absolute path of the folder when it was ingested [text]';
comment on column profile_version.communication_version_id is 'Version that communication_data_ref points to, null when absent [profile_version.version_id]';
comment on column profile_version.mapping_sha256 is 'SHA-256 of op_mapping.yaml, null for communication folders [hex]';
comment on column profile_version.metadata_json is 'Top-level scalars of op_mapping.yaml: version, device, cann_version ... [JSON object]';
comment on column profile_version.ingested_at is 'When the version was last ingested [UTC]';
