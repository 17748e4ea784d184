// Figures: a director's measurements of itself at one moment, as plain values. The shared object of
// exporter.h makes the text for Prometheus from the values.
//
// Counts begin with the director; times are in seconds. docs/metrics.md says what each figure
// means.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace galley::metrics {

using Counts = std::map<std::string, uint64_t>;  // by the value of a label

struct Cooker {
  std::string name;  // empty: packages without a cooker
  Counts results;    // by outcome
  // Jobs for each bucket of Figures::job_bounds, not cumulative; the last: beyond all bounds.
  std::vector<uint64_t> job_counts;
  double job_seconds = 0;
};

struct CookClass {
  std::string name;
  uint64_t waiting = 0, running = 0;    // cooks
  Counts packages;                      // by state
  std::optional<double> last_duration;  // of the last cook that ended
};

struct Launcher {
  std::string name;  // "local", "slurm", ..., "hand"
  Counts workers;    // by state
  uint64_t slots = 0;
  uint64_t started = 0, lost = 0, launches_failed = 0;
};

struct Worker {
  std::string name, launcher;
  double last_job = 0;  // since 1970; if there was no job: when the worker attached
};

struct Store {
  // Some seconds old; nullopt: not read yet.
  std::optional<uint64_t> bytes, quarantined;
  std::optional<uint64_t> loss_epoch;
  uint64_t bytes_max = 0;
  std::optional<std::pair<uint64_t, uint64_t>> disk;  // available and total bytes
  std::optional<bool> is_remote_up;                   // nullopt: there is no remote
};

// The HTTP of devices.
struct Http {
  Counts answers;  // by the class of their status: "2xx", "3xx", "4xx", "5xx"
  uint64_t sent_bytes = 0;
  uint64_t left = 0;                      // clients that left before their answer
  uint64_t connections = 0, streams = 0;  // open
  uint64_t refused = 0;                   // connections that found no room
  uint64_t timed_out = 0;                 // connections
};

// Packages that idle workers cook ahead of need for devices.
struct Ahead {
  uint64_t made = 0, hits = 0, wasted = 0;  // packages
  uint64_t killed = 0;                      // jobs that were given up for others
  double slot_seconds = 0;                  // of all jobs
  uint64_t bytes = 0;                       // that were made
  Counts packages;                          // by state, now: "waiting", "open", "unasked"
};

struct Process {
  double started = 0;      // since 1970
  double cpu_seconds = 0;  // all threads
  uint64_t memory_bytes = 0;
  uint64_t descriptors = 0, descriptors_max = 0;
};

struct Figures {
  std::string version;

  std::vector<CookClass> classes;
  std::map<std::pair<std::string, int>, uint64_t> cooks_ended;  // by class and exit code
  std::map<std::string, double> last_success;  // by platform, of cooks by the book; since 1970

  std::vector<double> job_bounds;  // seconds, for Cooker::job_counts
  std::vector<Cooker> cookers;
  Counts jobs;                // by state, now
  double oldest_ready_s = 0;  // 0: no job waits for a worker
  Counts retried;             // jobs, by cause
  uint64_t executors_lost = 0;
  uint64_t breakers_opened = 0;

  std::vector<Launcher> launchers;
  std::vector<Worker> workers;  // attached workers
  std::optional<double> certificate_end;

  // Bytes.
  uint64_t job_read = 0, job_warm = 0, job_saved = 0;
  uint64_t store_written = 0, store_deduplicated = 0;
  uint64_t remote_fetched = 0;
  uint64_t workers_fetched = 0, workers_uploaded = 0;

  Store store;
  std::optional<Http> http;    // nullopt: the director answers no devices
  std::optional<Ahead> ahead;  // nullopt: nothing is cooked ahead
  Process process;
};

}  // namespace galley::metrics
