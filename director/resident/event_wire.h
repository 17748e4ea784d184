// The calls of CookListener as events of director.proto, and back.
//
// Threads: those of the listener.
#pragma once

#include <functional>
#include <string>

#include "director/host/cook_listener.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// EventSource: a listener that makes an event of each call.
class EventSource final : public CookListener {
 public:
  struct Sinks {
    std::function<void(const v1::CookEvent& event)> event;
    // Only the newest one matters.
    std::function<void(v1::CookProgress progress)> progress;
    std::function<std::string()> remote_down;
  };
  explicit EventSource(Sinks sinks) : sinks_(std::move(sinks)) {}

  void Say(std::string_view text) override;
  void SayAlways(std::string_view text) override;
  void Scanned(const ScanCounts& counts) override;
  void Stands(const StandCounts& counts) override;
  void OnFailed(const std::string& package, const std::string& platform,
                const PackageFailed& failed) override;
  void OnWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning) override;
  void OnDone(const StoredResult& result, ResultSource source) override;
  void OnLeft(const std::string& package) override;
  void OnPlatforms(const std::vector<std::string>& platforms) override;
  void OnProgress(const Counters& counters, const Progress& progress) override;

 private:
  const Sinks sinks_;
};

// Calls what the event stands for; those that stand for no call are left to the caller. A result
// has a package and a platform only, a failure all but ids of packages and workers.
void TellListener(const v1::CookEvent& event, CookListener& listener);

// But for the state of the remote store.
v1::CookProgress ToWire(const Counters& counters, const Progress& progress);
Progress ProgressOf(const v1::CookProgress& progress);

}  // namespace galley::director
