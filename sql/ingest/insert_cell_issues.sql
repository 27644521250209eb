-- Problems that did not reject their row, as warnings that name file, line, column and cell.
insert into source_issue
select r.file_id, r.version_id, r.line_number, header, 'warning', reason,
    r.kernel_type || '.csv line ' || r.line_number || ', column ' || header || ': '
        || coalesce('"' || left(coalesce(json_extract_string(s.odd_numbers, '$.' || column_name), json_extract_string(to_json(s), '$.' || column_name)), 80) || '"', 'blank')
        || ' is ignored (' || reason || ')'
from cell_problem join operand_row as r using (staged_id) join staged_row as s using (staged_id)
where not is_fatal
order by staged_id, column_name
