#include "director/metrics/families.h"

#include <algorithm>
#include <string>
#include <utility>

namespace galley::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Metric: one metric, to which samples are added one by one. A metric without samples is left out.
class Metric {
 public:
  Metric(std::vector<MetricFamily>& all, MetricType type, std::string name, std::string help)
      : all_(all) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }
  ~Metric() {
    if (!family_.metric.empty()) all_.push_back(std::move(family_));
  }
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;

  Metric& Add(Labels labels, double value) {
    ClientMetric& sample = family_.metric.emplace_back();
    sample.label = std::move(labels);
    (family_.type == MetricType::Counter ? sample.counter.value : sample.gauge.value) = value;
    return *this;
  }
  Metric& Add(Labels labels, uint64_t value) {
    return Add(std::move(labels), static_cast<double>(value));
  }
  template <typename T>
  Metric& AddIf(const std::optional<T>& value) {
    if (value.has_value()) Add({}, static_cast<double>(*value));
    return *this;
  }
  Metric& AddTimes(Labels labels, const std::vector<double>& bounds,
                   const std::vector<uint64_t>& counts, double sum) {
    ClientMetric& sample = family_.metric.emplace_back();
    sample.label = std::move(labels);
    sample.histogram.sample_sum = sum;
    for (size_t i = 0; i < counts.size(); ++i) {
      sample.histogram.sample_count += counts[i];
      if (i < bounds.size())
        sample.histogram.bucket.push_back({sample.histogram.sample_count, bounds[i]});
    }
    return *this;
  }

 private:
  std::vector<MetricFamily>& all_;
  MetricFamily family_;
};

class Maker {
 public:
  explicit Maker(const Figures& figures) : figures_(figures) {}

  std::vector<MetricFamily> Make() && {
    MakeCooks();
    MakeJobs();
    MakeFarm();
    MakeWorkers();
    MakeBytes();
    MakeStore();
    if (figures_.http) MakeHttp(*figures_.http);
    if (figures_.ahead) MakeAhead(*figures_.ahead);
    MakeProcess();
    return std::move(all_);
  }

 private:
  Metric Gauge(const std::string& name, const std::string& help) {
    return {all_, MetricType::Gauge, name, help};
  }
  Metric Counter(const std::string& name, const std::string& help) {
    return {all_, MetricType::Counter, name, help};
  }

  void MakeCooks() {
    Gauge("galley_build_info", "1, with the version of the director.")
        .Add({{"version", figures_.version}}, 1.0);
    {
      Metric cooks = Gauge("galley_cooks_in_progress", "Cooks that wait or run, by class.");
      for (const CookClass& one : figures_.classes) {
        cooks.Add({{"class", one.name}, {"state", "waiting"}}, one.waiting);
        cooks.Add({{"class", one.name}, {"state", "running"}}, one.running);
      }
    }
    {
      Metric ended = Counter("galley_cooks_total", "Cooks that ended, by class and exit code.");
      for (const auto& [of, count] : figures_.cooks_ended)
        ended.Add({{"class", of.first}, {"exit_code", std::to_string(of.second)}}, count);
    }
    {
      Metric last = Gauge("galley_cook_last_duration_seconds",
                          "How long the last cook of the class took, its waiting included.");
      for (const CookClass& one : figures_.classes) {
        if (one.last_duration) last.Add({{"class", one.name}}, *one.last_duration);
      }
    }
    {
      Metric success =
          Gauge("galley_cook_last_success_timestamp_seconds",
                "When a cook by the book of the platform last ended with exit code 0.");
      for (const auto& [platform, time] : figures_.last_success)
        success.Add({{"platform", platform}}, time);
    }
    Metric packages =
        Gauge("galley_packages",
              "Packages of the cooks that run, by the class of the cook and by state.");
    for (const CookClass& one : figures_.classes) {
      for (const auto& [state, count] : one.packages)
        packages.Add({{"class", one.name}, {"state", state}}, count);
    }
  }

  // The label's value is never empty, because an empty value equals no label.
  static std::string CookerLabel(const Cooker& cooker) {
    return cooker.name.empty() ? "none" : cooker.name;
  }

  void MakeJobs() {
    {
      Metric results =
          Counter("galley_results_total",
                  "Results (package and platform) of all cooks, by cooker and outcome.");
      for (const Cooker& cooker : figures_.cookers) {
        for (const auto& [outcome, count] : cooker.results)
          results.Add({{"cooker", CookerLabel(cooker)}, {"outcome", outcome}}, count);
      }
    }
    {
      Metric times{all_, MetricType::Histogram, "galley_job_duration_seconds",
                   "Work of jobs that were done in one attempt: load and all saves."};
      for (const Cooker& cooker : figures_.cookers)
        times.AddTimes({{"cooker", CookerLabel(cooker)}}, figures_.job_bounds, cooker.job_counts,
                       cooker.job_seconds);
    }
    {
      Metric jobs = Gauge("galley_jobs", "Jobs that are in a worker's hands or wait, by state.");
      for (const auto& [state, count] : figures_.jobs) jobs.Add({{"state", state}}, count);
    }
    Gauge("galley_ready_job_oldest_age_seconds",
          "How long the oldest of the ready jobs has been waiting for a worker; 0: there is none.")
        .Add({}, figures_.oldest_ready_s);
    {
      Metric retried =
          Counter("galley_jobs_retried_total", "Jobs that were handed over again, by cause.");
      for (const auto& [cause, count] : figures_.retried) retried.Add({{"cause", cause}}, count);
    }
    Counter("galley_executors_lost_total", "Processes of workers that died or were replaced.")
        .Add({}, figures_.executors_lost);
    Counter("galley_breakers_opened_total",
            "How often a worker, or a machine, was held: it got no jobs for a while, since too "
            "many failed there for the machine's sake.")
        .Add({}, figures_.breakers_opened);
  }

  void MakeFarm() {
    Metric workers = Gauge("galley_workers", "Workers, by launcher and state.");
    Metric slots = Gauge("galley_worker_slots", "Jobs that attached workers take at a time.");
    Metric started = Counter("galley_workers_started_total", "Workers that attached as new ones.");
    Metric lost = Counter("galley_workers_lost_total",
                          "Workers that went without saying goodbye, or fell silent.");
    Metric failed = Counter("galley_worker_launches_failed_total",
                            "Workers that were asked for and did not come.");
    for (const Launcher& one : figures_.launchers) {
      for (const auto& [state, count] : one.workers)
        workers.Add({{"launcher", one.name}, {"state", state}}, count);
      const Labels labels{{"launcher", one.name}};
      slots.Add(labels, one.slots);
      started.Add(labels, one.started);
      lost.Add(labels, one.lost);
      failed.Add(labels, one.launches_failed);
    }
  }

  void MakeWorkers() {
    const size_t shown = std::min(figures_.workers.size(), kWorkersMax);
    {
      Metric last = Gauge("galley_worker_last_job_timestamp_seconds",
                          "When the worker was last given a job or ended one; when it attached, if "
                          "it had none.");
      for (size_t i = 0; i < shown; ++i) {
        const Worker& worker = figures_.workers[i];
        last.Add({{"worker", worker.name}, {"launcher", worker.launcher}}, worker.last_job);
      }
    }
    Gauge("galley_worker_series_truncated",
          "Attached workers that have no series of their own, since 500 others do.")
        .Add({}, static_cast<uint64_t>(figures_.workers.size() - shown));
    Gauge("galley_farm_certificate_expiry_timestamp_seconds",
          "When the certificate of [farm] tls_cert ends.")
        .AddIf(figures_.certificate_end);
  }

  void MakeBytes() {
    const std::pair<std::pair<const char*, const char*>, uint64_t> all[] = {
        {{"job_read", "Sources and inputs that jobs read from disk, store or network."},
         figures_.job_read},
        {{"job_warm", "Sources and inputs that jobs did not read, since their executor had them."},
         figures_.job_warm},
        {{"job_saved", "Outputs that jobs made."}, figures_.job_saved},
        {{"store_written", "Outputs of committed results that were new to the store."},
         figures_.store_written},
        {{"store_deduplicated", "Outputs of committed results that the store had."},
         figures_.store_deduplicated},
        {{"remote_fetched", "Fetched from the remote store ([store] remote)."},
         figures_.remote_fetched},
        {{"farm_fetched", "Fetched from this director by workers without its files."},
         figures_.workers_fetched},
        {{"farm_uploaded", "Uploaded to this director by workers without its files."},
         figures_.workers_uploaded},
    };
    for (const auto& [text, bytes] : all)
      Counter("galley_" + std::string(text.first) + "_bytes_total",
              std::string("Bytes: ") + text.second)
          .Add({}, bytes);
  }

  void MakeStore() {
    const Store& store = figures_.store;
    Gauge("galley_store_size_bytes", "Size of the store's segments and files.").AddIf(store.bytes);
    Gauge("galley_store_size_limit_bytes", "The size that the store is kept to: [store] max_size.")
        .Add({}, store.bytes_max);
    Gauge("galley_store_quarantined_blobs", "Wrong blobs that the store took out and kept.")
        .AddIf(store.quarantined);
    Gauge("galley_store_loss_epoch",
          "Rises whenever the store drops, quarantines or disputes something.")
        .AddIf(store.loss_epoch);
    if (store.disk) {
      Gauge("galley_store_disk_free_bytes", "Free for Galley on the disk of the store.")
          .Add({}, store.disk->first);
      Gauge("galley_store_disk_size_bytes", "Size of the disk of the store.")
          .Add({}, store.disk->second);
    }
    Gauge("galley_store_remote_up", "1: the remote store answers; 0: it is down.")
        .AddIf(store.is_remote_up);
  }

  void MakeHttp(const Http& http) {
    {
      Metric answers = Counter("galley_http_answers_total",
                               "Answers to devices and browsers, by the class of their status.");
      for (const auto& [status, count] : http.answers) answers.Add({{"status", status}}, count);
    }
    Counter("galley_http_sent_bytes_total", "Bytes sent to devices and browsers.")
        .Add({}, http.sent_bytes);
    Counter("galley_http_clients_left_total", "Clients that left before their answer.")
        .Add({}, http.left);
    Counter("galley_http_connections_refused_total",
            "Connections that were refused, since there were as many as may be.")
        .Add({}, http.refused);
    Counter("galley_http_connections_timed_out_total",
            "Connections that were closed, since their client did nothing for too long.")
        .Add({}, http.timed_out);
    Gauge("galley_http_connections", "Open connections of devices and browsers.")
        .Add({}, http.connections);
    Gauge("galley_http_streams", "Open streams of changes.").Add({}, http.streams);
  }

  void MakeAhead(const Ahead& ahead) {
    Counter("galley_ahead_made_total",
            "Packages that idle workers cooked for devices that had not asked for them.")
        .Add({}, ahead.made);
    Counter("galley_ahead_hits_total", "Packages of these that somebody asked for later.")
        .Add({}, ahead.hits);
    Counter("galley_ahead_wasted_total",
            "Packages of these that changed before anybody asked, or were not asked for in a day.")
        .Add({}, ahead.wasted);
    Counter("galley_ahead_killed_total", "Jobs of these that were given up for others.")
        .Add({}, ahead.killed);
    Counter("galley_ahead_slot_seconds_total", "Time of these jobs in slots of workers.")
        .Add({}, ahead.slot_seconds);
    Counter("galley_ahead_made_bytes_total", "Bytes of the outputs of these packages.")
        .Add({}, ahead.bytes);
    Metric packages = Gauge(
        "galley_ahead_packages",
        "Packages that wait for idle workers, are cooked by them, or were not asked for yet.");
    for (const auto& [state, count] : ahead.packages) packages.Add({{"state", state}}, count);
  }

  void MakeProcess() {
    const Process& process = figures_.process;
    Counter("process_cpu_seconds_total", "Processor time of the director, all threads.")
        .Add({}, process.cpu_seconds);
    Gauge("process_resident_memory_bytes", "Resident memory of the director.")
        .Add({}, process.memory_bytes);
    Gauge("process_open_fds", "Open descriptors of the director.").Add({}, process.descriptors);
    Gauge("process_max_fds", "Descriptors that the director may have open.")
        .Add({}, process.descriptors_max);
    Gauge("process_start_time_seconds", "When the director began.").Add({}, process.started);
  }

  const Figures& figures_;
  std::vector<MetricFamily> all_;
};

}  // namespace

std::vector<prometheus::MetricFamily> FamiliesOf(const Figures& figures) {
  return Maker(figures).Make();
}

}  // namespace galley::metrics
