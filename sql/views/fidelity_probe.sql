-- Every probe of every recorded run: target, removed latency, answer, errors, source, confidence, method, candidates.
-- example: Which held-out points did the lookup miss by the most, and how wide was the cell there?
create or replace view fidelity_probe as
with ratios as (
    select *, if(truth_us > 0 and isfinite(truth_us), pred_us / truth_us, null) as ratio
    from recorded_probe
), errors as (
    select *, case when ratio > 0 then ln(ratio) when ratio <= 0 then '-infinity'::double end as log_ratio from ratios
)
select e.run_id, e.probe_id, e.group_id, e.version_key, e.device, e.kernel_type, e.path, e.regime_json, e.region, e.scheme,
    e.x[1] as x0, e.x[2] as x1, e.x[3] as x2, e.x[4] as x3, e.axis_names[1] as x0_name, e.axis_names[2] as x1_name,
    e.axis_names[3] as x2_name, e.axis_names[4] as x3_name, e.holdout_id, e.truth_us, e.pred_us, e.ratio,
    abs(e.pred_us - e.truth_us) as abs_err_us, abs(e.ratio - 1) as rel_err, e.log_ratio, e.ratio is not null as answered,
    e.source, e.coverage, e.confidence, e.method, e.dims, e.n_candidates, e.cell_ratio, e.spread, e.nearest_us, e.noise_floor, e.jump,
    abs(e.log_ratio) <= ln(1 + r.bar) + 1e-12 as within_bar, abs(e.log_ratio) <= ln(e.noise_floor) + 1e-12 as within_noise,
    e.failure_hint, e.reason
from errors as e join recorded_run as r using (run_id)
order by e.run_id, e.probe_id;
comment on view fidelity_probe is 'One row per probe; a missing truth and a miss are counted and never scored [source: recorded_probe, recorded_run]';
comment on column fidelity_probe.run_id is 'Recorded run [fidelity_run.run_id]';
comment on column fidelity_probe.probe_id is 'Number of the probe in its run, 0 first [integer]';
comment on column fidelity_probe.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column fidelity_probe.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_probe.device is 'First part of the version key [text]';
comment on column fidelity_probe.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_probe.path is 'Lookup path [regime.path]';
comment on column fidelity_probe.regime_json is 'Discrete fields of the regime [canonical JSON]';
comment on column fidelity_probe.region is 'What the error is told under [text]';
comment on column fidelity_probe.scheme is 'Hold-out scheme, or how else the probe came about [text]';
comment on column fidelity_probe.x0 is 'First coordinate [axis unit]';
comment on column fidelity_probe.x1 is 'Second coordinate, null without one [axis unit]';
comment on column fidelity_probe.x2 is 'Third coordinate, null without one [axis unit]';
comment on column fidelity_probe.x3 is 'Fourth coordinate, null without one [axis unit]';
comment on column fidelity_probe.x0_name is 'Name of the first axis [text]';
comment on column fidelity_probe.x1_name is 'Name of the second axis [text]';
comment on column fidelity_probe.x2_name is 'Name of the third axis [text]';
comment on column fidelity_probe.x3_name is 'Name of the fourth axis [text]';
comment on column fidelity_probe.holdout_id is 'What was held out, null when nothing was [text]';
comment on column fidelity_probe.truth_us is 'Measured latency, null when nobody knows [us]';
comment on column fidelity_probe.pred_us is 'Answer, null for a miss [us]';
comment on column fidelity_probe.ratio is 'pred_us over truth_us [ratio]';
comment on column fidelity_probe.abs_err_us is 'Absolute difference of both [us]';
comment on column fidelity_probe.rel_err is 'abs_err_us over truth_us [fraction]';
comment on column fidelity_probe.log_ratio is 'Natural logarithm of the ratio, -infinity for an answer that is not positive [ln ratio]';
comment on column fidelity_probe.answered is 'Whether there are a truth and an answer [boolean]';
comment on column fidelity_probe.source is 'MEASURED, INTERPOLATED, EXTRAPOLATED, PARTIAL or MISS [text]';
comment on column fidelity_probe.coverage is 'Coverage bits [bits]';
comment on column fidelity_probe.confidence is 'Confidence label before calibration [label]';
comment on column fidelity_probe.method is 'How the answer was interpolated [text]';
comment on column fidelity_probe.dims is 'Axes that varied [count]';
comment on column fidelity_probe.n_candidates is 'Points that the answer was chosen from [count]';
comment on column fidelity_probe.cell_ratio is 'Upper over lower end of the cell along its widest used axis [ratio]';
comment on column fidelity_probe.spread is 'Largest over smallest one-dimensional estimate of the answer, less 1 [fraction]';
comment on column fidelity_probe.nearest_us is 'Latency of the used point nearest to the target [us]';
comment on column fidelity_probe.noise_floor is 'Factor up to which repeated measurements differ anyway [ratio]';
comment on column fidelity_probe.jump is 'Latency above a step over latency below it, for members of boundary pairs [ratio]';
comment on column fidelity_probe.within_bar is 'Whether the answer is within the bar of the run, null without an answer [boolean]';
comment on column fidelity_probe.within_noise is 'Whether it is within the noise floor, null without an answer [boolean]';
comment on column fidelity_probe.failure_hint is 'What the failure looks like, null within the bar [text]';
comment on column fidelity_probe.reason is 'Why there was no answer, or no truth [identifier]';
