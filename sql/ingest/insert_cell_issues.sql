-- Problems that did not reject their row, as warnings that name file, line, column and cell.
insert into source_issue
select file_id, version_id, line_number, header, 'warning', reason,
    kernel_type || '.csv line ' || line_number || ', column ' || header || ': '
        || coalesce('"' || left(json_extract_string(to_json(s), '$.' || column_name), 80) || '"', 'blank')
        || ' is ignored (' || reason || ')'
from cell_problem join staged_row as s using (file_id, row_number) join loading_file using (file_id)
where not is_fatal
