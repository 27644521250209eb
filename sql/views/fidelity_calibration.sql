-- What a confidence label came to in hold-outs: the share of answers with it that were within the bar.
-- example: Does a higher confidence mean that an answer is more often within 15 %?
create or replace view fidelity_calibration as
select p.version_key, p.kernel_type, p.path, floor(p.confidence * 20) / 20 as confidence_from, floor(p.confidence * 20) / 20 + 0.05 as confidence_to,
    count(*) as n_answered, count(*) filter (p.within_bar) as n_within, avg(p.within_bar::integer) as within_rate,
    (count(*) filter (p.within_bar) + 1) / (count(*) + 2) as calibrated, median(p.ratio) as med, quantile_cont(p.rel_err, 0.9) as rel_err_p90,
    list_sort(list(distinct p.run_id)) as run_ids
from fidelity_probe as p join fidelity_run as r using (run_id)
where p.answered and p.confidence is not null and r.truth_quality = 'truth' and r.is_stored_policy and p.region not in ('on_grid', 'edge')
    and p.source in ('INTERPOLATED', 'EXTRAPOLATED')
group by p.version_key, p.kernel_type, p.path, floor(p.confidence * 20) / 20
order by p.version_key, p.kernel_type, p.path, confidence_from;
comment on view fidelity_calibration is 'One row per version, kernel, path and bucket of confidence, over all recorded runs with a usable truth under the stored policies [source: fidelity_probe, fidelity_run]';
comment on column fidelity_calibration.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_calibration.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_calibration.path is 'Lookup path [regime.path]';
comment on column fidelity_calibration.confidence_from is 'Least confidence of the bucket [label]';
comment on column fidelity_calibration.confidence_to is 'The confidence of the bucket is below this [label]';
comment on column fidelity_calibration.n_answered is 'Interpolated or extrapolated answers with a truth [count]';
comment on column fidelity_calibration.n_within is 'Those within the bar of their run [count]';
comment on column fidelity_calibration.within_rate is 'n_within over n_answered: what the label came to [fraction]';
comment on column fidelity_calibration.calibrated is '(n_within + 1) / (n_answered + 2), which stays inside 0 and 1 for few answers [fraction]';
comment on column fidelity_calibration.med is 'Median of answer over truth [ratio]';
comment on column fidelity_calibration.rel_err_p90 is '90th percentile of the relative errors [fraction]';
comment on column fidelity_calibration.run_ids is 'Runs that the figures come from [list of hex]';
