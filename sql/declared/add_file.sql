-- One kernel of a declared table with its counts.
-- param: file json [object, keys are the columns of source_file]
insert into source_file by name
select file.* from (
    select from_json($file, '{"file_id": "integer", "version_id": "integer", "kernel_type": "varchar",
        "file_name": "varchar", "file_path": "varchar", "status": "varchar", "message": "varchar", "layout": "varchar",
        "sha256": "varchar", "policy_sha256": "varchar", "size_bytes": "bigint", "bom_count": "integer",
        "column_names": ["varchar"], "unknown_columns": ["varchar"], "preferred_latency_column": "varchar",
        "rows_read": "bigint", "rows_stored": "bigint", "rows_rejected": "bigint", "rows_without_latency": "bigint"}') as file
)
