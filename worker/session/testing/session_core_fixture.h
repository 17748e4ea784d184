// SessionCoreTest: the fixture of the session core's tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "worker/session/session_core.h"

namespace galley::worker {

// A session and a director that remembers what was started, stopped and sent.
class SessionCoreTest : public ::testing::Test {
 protected:
  explicit SessionCoreTest(uint32_t slots = 2, bool is_without_files = false)
      : core_({.worker_id = "local-1",
               .token = "secret",
               .machine = "m",
               .cookers_json = "{}",
               .slots = slots,
               .is_without_files = is_without_files}) {}

  void Step(const SessionEvent& event) {
    std::vector<SessionEffect> effects;
    core_.Step(now_, event, effects);
    core_.Flush(effects);
    for (SessionEffect& effect : effects) Take(effect);
  }

  void Take(SessionEffect& effect) {
    if (auto* start = std::get_if<StartJob>(&effect))
      started_.emplace_back(start->slot, start->job.job().attempt());
    if (auto* start = std::get_if<StartJob>(&effect)) last_job_ = start->job;
    if (auto* start = std::get_if<StartJob>(&effect)) files_.push_back(start->job.snapshot_file());
    if (auto* ahead = std::get_if<FetchAhead>(&effect)) {
      for (const v1::Job& job : ahead->jobs) ahead_.push_back(job);
    }
    if (auto* stop = std::get_if<StopJob>(&effect))
      stopped_.emplace_back(stop->slot, stop->attempt);
    if (auto* left = std::get_if<LeaveOut>(&effect)) left_out_.push_back(left->part);
    if (auto* sent = std::get_if<SendMessage>(&effect)) sent_.push_back(sent->message);
    if (std::holds_alternative<HangUp>(effect)) ++hang_ups_;
    if (auto* exit = std::get_if<ExitSession>(&effect)) exit_ = *exit;
  }

  v1::ToWorker Message() {
    v1::ToWorker message;
    message.set_sequence(++sequence_);
    return message;
  }

  void Attach(uint32_t term = 1) {
    Step(Connected{});
    sequence_ = 0;
    v1::ToWorker message = Message();
    message.mutable_welcome()->set_term(term);
    message.mutable_welcome()->set_timeout_us_default(5'000'000);
    message.mutable_snapshot()->set_number(1);
    message.mutable_snapshot()->set_table_file("/state/1.table");
    Step(Received{message});
  }

  static v1::Job JobOf(uint64_t attempt, std::vector<uint32_t> platforms = {0}) {
    v1::Job job;
    job.set_attempt(attempt);
    job.set_package("/Game/a.png");
    job.set_snapshot(1);
    for (const uint32_t platform : platforms) job.add_targets()->set_platform(platform);
    return job;
  }

  void Give(std::vector<v1::Job> jobs) {
    v1::ToWorker message = Message();
    for (v1::Job& job : jobs) *message.add_start() = std::move(job);
    Step(Received{message});
  }

  void Cancel(uint64_t attempt) {
    v1::ToWorker message = Message();
    message.add_cancel(attempt);
    Step(Received{message});
  }

  void Persist(std::vector<uint64_t> reports) {
    v1::ToWorker message = Message();
    for (const uint64_t report : reports) message.add_persisted(report);
    Step(Received{message});
  }

  void Saved(uint32_t slot, uint64_t attempt, uint32_t platform) {
    v1::Report report;
    report.mutable_saved()->set_platform(platform);
    Step(SlotReported{.slot = slot, .attempt = attempt, .report = report});
  }

  void Done(uint32_t slot, uint64_t attempt) {
    v1::Report report;
    report.mutable_ended();
    Step(SlotReported{.slot = slot, .attempt = attempt, .report = report});
  }

  // "1:saved@7" for report 1 of attempt 7, over all messages since the last call.
  std::vector<std::string> TakeReports() {
    std::vector<std::string> texts;
    for (const v1::FromWorker& message : std::exchange(sent_, {})) {
      for (const v1::Report& report : message.reports()) {
        const char* what = report.has_saved()    ? "saved"
                           : report.has_loaded() ? "loaded"
                           : report.has_failed() ? "failed"
                           : report.has_needs()  ? "needs"
                           : report.has_stale()  ? "stale"
                                                 : "ended";
        texts.push_back(std::to_string(report.report()) + ":" + what + "@" +
                        std::to_string(report.attempt()));
        if (report.has_failed()) last_failed_ = report.failed();
      }
    }
    return texts;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  SessionCore core_;
  uint64_t sequence_ = 0;
  int hang_ups_ = 0;
  std::vector<std::pair<uint32_t, uint64_t>> started_;
  std::vector<std::pair<uint32_t, uint64_t>> stopped_;
  std::vector<v1::JobPart> left_out_;
  std::vector<v1::Job> ahead_;  // jobs of FetchAhead
  std::vector<v1::FromWorker> sent_;
  v1::ExecutorJob last_job_;
  std::vector<std::string> files_;  // snapshot files of the started jobs
  v1::Failed last_failed_;
  std::optional<ExitSession> exit_;
};

// Jobs with the attempts 1, 2, ...
inline std::vector<v1::Job> ShortJobs(int count) {
  std::vector<v1::Job> jobs(static_cast<size_t>(count));
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].set_attempt(i + 1);
    jobs[i].set_snapshot(1);
    jobs[i].set_expected_us(8'000);  // two take less than 20 ms
  }
  return jobs;
}

class OneSlotTest : public SessionCoreTest {
 protected:
  OneSlotTest() : SessionCoreTest(1) { Attach(); }
};

}  // namespace galley::worker
