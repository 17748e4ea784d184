// FakeListener: a listener of tests, which keeps what it is told as lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "director/host/cook_listener.h"
#include "fmt/format.h"

namespace galley::director {

class FakeListener final : public CookListener {
 public:
  void Say(std::string_view text) override { lines.push_back(fmt::format("say {}", text)); }
  void SayAlways(std::string_view text) override { Say(text); }
  void Scanned(const ScanCounts& counts) override {
    lines.push_back(fmt::format("scanned {} files", counts.files));
  }
  void Stands(const StandCounts& counts) override {
    lines.push_back(fmt::format("{} packages stand", counts.packages));
  }
  void OnFailed(const std::string& package, const std::string& platform,
                const PackageFailed& failed) override {
    lines.push_back(fmt::format("failed {} {}: {}", package, platform, failed.error));
  }
  void OnWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning) override {
    lines.push_back(fmt::format("warning {} {}: {}", package, platform, warning.ToText()));
  }
  void OnDone(const StoredResult& result, ResultSource) override {
    lines.push_back(fmt::format("done {} {}", result.package, result.platform_name));
  }
  void OnLeft(const std::string& package) override {
    lines.push_back(fmt::format("left {}", package));
  }
  void OnPlatforms(const std::vector<std::string>&) override {}
  void OnProgress(const Counters&, const Progress&) override {}

  std::vector<std::string> lines;
};

}  // namespace galley::director
