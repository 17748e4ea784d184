#include "director/shell/trace.h"

#include <algorithm>
#include <map>
#include <span>

#include "nlohmann/json.hpp"

namespace galley::director {

void Trace::Add(Span span) {
  if (!is_on()) return;
  base::MutexLock lock(mutex_);
  spans_.push_back(std::move(span));
}

size_t Trace::Begin() {
  base::MutexLock lock(mutex_);
  ++recordings_;
  return spans_.size();
}

void Trace::End() {
  base::MutexLock lock(mutex_);
  if (--recordings_ == 0) spans_ = {};
}

std::string Trace::ToJsonFrom(size_t first) const {
  base::MutexLock lock(mutex_);
  const std::span<const Span> spans = std::span(spans_).subspan(std::min(first, spans_.size()));
  int64_t origin = INT64_MAX;
  std::map<std::string, int> processes;
  for (const Span& span : spans) {
    origin = std::min(origin, span.started_us);
    processes.emplace(span.worker, 0);
  }
  auto events = nlohmann::json::array();
  int next = 0;
  for (auto& [worker, id] : processes) {
    id = worker == "director" ? 0 : ++next;
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", id},
                      {"tid", 0},
                      {"args", {{"name", worker}}}});
  }
  for (const Span& span : spans) {
    nlohmann::json event = {{"ph", "X"},
                            {"name", span.name},
                            {"cat", span.category},
                            {"pid", processes[span.worker]},
                            {"tid", span.slot},
                            {"ts", span.started_us - origin},
                            {"dur", span.duration_us}};
    if (!span.platform.empty()) event["args"] = {{"platform", span.platform}};
    events.push_back(std::move(event));
  }
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace galley::director
