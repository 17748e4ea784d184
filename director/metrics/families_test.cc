// FamiliesTest: checks the text for Prometheus, and that each name in it follows the conventions.
#include "director/metrics/families.h"

#include <regex>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/text_serializer.h"

namespace galley::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(const Figures& figures) {
  return prometheus::TextSerializer().Serialize(FamiliesOf(figures));
}

// Returns figures with every field set.
Figures All() {
  return {.version = "1.2.3",
          .classes = {{.name = "nightly",
                       .waiting = 1,
                       .running = 2,
                       .packages = {{"load", 7}},
                       .last_duration = 61.5}},
          .cooks_ended = {{{"nightly", 0}, 3}, {{"nightly", 1}, 2}},
          .last_success = {{"pc", 1'700'000'000}},
          .job_bounds = {0.001, 0.002},
          .cookers = {{.name = "texture",
                       .results = {{"cooked", 5}, {"failed", 1}},
                       .job_counts = {1, 2, 4},
                       .job_seconds = 12.25}},
          .jobs = {{"ready", 9}, {"in_hand", 3}},
          .oldest_ready_s = 4.5,
          .retried = {{"memory", 6}},
          .executors_lost = 8,
          .breakers_opened = 3,
          .launchers = {{.name = "slurm",
                         .workers = {{"busy", 2}, {"queued", 1}},
                         .slots = 16,
                         .started = 4,
                         .lost = 5,
                         .launches_failed = 6}},
          .workers = {{.name = "slurm-1", .launcher = "slurm", .last_job = 1'700'000'001}},
          .certificate_end = 1'800'000'000,
          .job_read = 10,
          .store = {.bytes = 100,
                    .quarantined = 2,
                    .loss_epoch = 3,
                    .bytes_max = 1000,
                    .disk = {{50, 500}},
                    .is_remote_up = false},
          .http = Http{.answers = {{"2xx", 11}, {"5xx", 1}},
                       .sent_bytes = 12,
                       .left = 13,
                       .connections = 14,
                       .streams = 15,
                       .refused = 16,
                       .timed_out = 17},
          .ahead = Ahead{.made = 18,
                         .hits = 19,
                         .wasted = 20,
                         .killed = 21,
                         .slot_seconds = 22.5,
                         .bytes = 23,
                         .packages = {{"open", 24}, {"waiting", 25}}},
          .process = {.started = 1'699'999'999, .cpu_seconds = 1.5, .memory_bytes = 77}};
}

TEST(FamiliesTest, EachFigureHasItsSeries) {
  const std::string text = TextOf(All());
  for (const char* line :
       {"galley_build_info{version=\"1.2.3\"} 1\n",
        "galley_cooks_in_progress{class=\"nightly\",state=\"waiting\"} 1\n",
        "galley_cooks_in_progress{class=\"nightly\",state=\"running\"} 2\n",
        "galley_cooks_total{class=\"nightly\",exit_code=\"1\"} 2\n",
        "galley_cook_last_duration_seconds{class=\"nightly\"} 61.5\n",
        "galley_cook_last_success_timestamp_seconds{platform=\"pc\"} 1700000000\n",
        "galley_packages{class=\"nightly\",state=\"load\"} 7\n",
        "galley_results_total{cooker=\"texture\",outcome=\"cooked\"} 5\n",
        "galley_jobs{state=\"ready\"} 9\n",
        "galley_ready_job_oldest_age_seconds 4.5\n",
        "galley_jobs_retried_total{cause=\"memory\"} 6\n",
        "galley_executors_lost_total 8\n",
        "galley_breakers_opened_total 3\n",
        "galley_workers{launcher=\"slurm\",state=\"queued\"} 1\n",
        "galley_worker_slots{launcher=\"slurm\"} 16\n",
        "galley_workers_started_total{launcher=\"slurm\"} 4\n",
        "galley_workers_lost_total{launcher=\"slurm\"} 5\n",
        "galley_worker_launches_failed_total{launcher=\"slurm\"} 6\n",
        "galley_worker_last_job_timestamp_seconds{worker=\"slurm-1\",launcher=\"slurm\"} "
        "1700000001\n",
        "galley_worker_series_truncated 0\n",
        "galley_farm_certificate_expiry_timestamp_seconds 1800000000\n",
        "galley_job_read_bytes_total 10\n",
        "galley_store_size_bytes 100\n",
        "galley_store_size_limit_bytes 1000\n",
        "galley_store_quarantined_blobs 2\n",
        "galley_store_loss_epoch 3\n",
        "galley_store_disk_free_bytes 50\n",
        "galley_store_disk_size_bytes 500\n",
        "galley_store_remote_up 0\n",
        "galley_http_answers_total{status=\"2xx\"} 11\n",
        "galley_http_sent_bytes_total 12\n",
        "galley_http_clients_left_total 13\n",
        "galley_http_connections 14\n",
        "galley_http_streams 15\n",
        "galley_http_connections_refused_total 16\n",
        "galley_http_connections_timed_out_total 17\n",
        "galley_ahead_made_total 18\n",
        "galley_ahead_hits_total 19\n",
        "galley_ahead_wasted_total 20\n",
        "galley_ahead_killed_total 21\n",
        "galley_ahead_slot_seconds_total 22.5\n",
        "galley_ahead_made_bytes_total 23\n",
        "galley_ahead_packages{state=\"open\"} 24\n",
        "galley_ahead_packages{state=\"waiting\"} 25\n",
        "process_cpu_seconds_total 1.5\n",
        "process_resident_memory_bytes 77\n",
        "process_start_time_seconds 1699999999\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(FamiliesTest, BucketsAreCumulativeAndEndAtInfinity) {
  const std::string text = TextOf(All());
  for (const char* line : {"_bucket{cooker=\"texture\",le=\"0.001\"} 1\n",
                           "_bucket{cooker=\"texture\",le=\"0.002\"} 3\n",
                           "_bucket{cooker=\"texture\",le=\"+Inf\"} 7\n",
                           "_count{cooker=\"texture\"} 7\n", "_sum{cooker=\"texture\"} 12.25\n"})
    EXPECT_THAT(text, HasSubstr(std::string("galley_job_duration_seconds") + line));
}

TEST(FamiliesTest, WhatIsNotKnownIsLeftOut) {
  const std::string text = TextOf({});
  for (const char* name :
       {"galley_store_size_bytes", "galley_store_remote_up", "galley_store_quarantined_blobs",
        "certificate", "last_success", "galley_http", "galley_ahead"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST(FamiliesTest, ACookerWithoutANameIsNone) {
  EXPECT_THAT(TextOf({.cookers = {{.results = {{"failed", 2}}}}}),
              HasSubstr("galley_results_total{cooker=\"none\",outcome=\"failed\"} 2\n"));
}

TEST(FamiliesTest, NoMoreThan500WorkersHaveSeries) {
  Figures figures;
  for (int i = 0; i < 503; ++i)
    figures.workers.push_back({.name = "w" + std::to_string(i), .launcher = "hand"});
  const std::string text = TextOf(figures);
  EXPECT_THAT(text, HasSubstr("worker=\"w499\""));
  EXPECT_THAT(text, Not(HasSubstr("worker=\"w500\"")));
  EXPECT_THAT(text, HasSubstr("galley_worker_series_truncated 3\n"));
}

TEST(FamiliesTest, NamesAreAsPrometheusWantsThem) {
  const std::set<std::string> labels = {"cooker", "outcome",   "cause",    "launcher",
                                        "class",  "state",     "platform", "version",
                                        "worker", "exit_code", "status"};
  std::set<std::string> names;
  for (const auto& family : FamiliesOf(All())) {
    SCOPED_TRACE(family.name);
    EXPECT_TRUE(names.insert(family.name).second) << "twice";
    EXPECT_TRUE(std::regex_match(family.name, std::regex("(galley|process)_[a-z_]+")));
    EXPECT_EQ(family.type == prometheus::MetricType::Counter, family.name.ends_with("_total"));
    EXPECT_FALSE(std::regex_search(
        family.name, std::regex("_(ms|us|milliseconds|kilobytes|kb|mb|minutes|percent)(_|$)")));
    EXPECT_TRUE(family.help.ends_with('.')) << family.help;
    for (const auto& sample : family.metric) {
      for (const auto& label : sample.label) {
        EXPECT_TRUE(labels.contains(label.name)) << label.name;
        EXPECT_FALSE(label.value.empty());
      }
    }
  }
}

}  // namespace
}  // namespace galley::metrics
