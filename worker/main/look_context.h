// LookContext: the CookContext of a look by hand. It reads files of this machine, within the mounts
// and below the folder of the source, and gathers the cooker's results. It records no observations,
// and answers only looks at files and at the platform.
// Threads: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/cookers/cooker.h"

namespace galley::worker {

// LookWorld: the inputs that all looks of a run share.
struct LookWorld {
  std::vector<std::pair<std::string, std::string>> mounts;  // virtual path, absolute folder
  std::map<std::string, std::string> platform;
  uint64_t memory_bytes_max = 0;
  uint64_t file_bytes_max = 0;  // the limit on a file that is read
};

class LookContext final : public CookContext {
 public:
  // `file`: an absolute path of this machine. `world` outlives the context.
  LookContext(const LookWorld& world, std::string file, std::string extension, Blob source,
              nlohmann::json settings);

  const nlohmann::json& settings() const override { return settings_; }
  const std::string& extension() const override { return extension_; }
  const Blob& source() const override { return source_; }

  absl::StatusOr<FileContent> ReadFile(std::string_view path) override;
  absl::Status CheckFile(std::string_view path) override;
  absl::StatusOr<Kind> Exists(std::string_view path) override;
  absl::StatusOr<std::optional<std::vector<std::string>>> List(std::string_view folder) override;
  absl::StatusOr<std::vector<std::string>> Glob(std::string_view root,
                                                std::string_view pattern) override;
  absl::StatusOr<Blob> Cooked(std::string_view package, std::string_view suffix) override;
  absl::StatusOr<bool> CookedTo(std::string_view package, std::string_view suffix,
                                const std::string& host_path) override;
  absl::StatusOr<std::optional<std::string>> Platform(std::string_view parameter) override;
  absl::StatusOr<std::string> Tool(std::string_view path) override;
  absl::StatusOr<std::optional<std::string>> Environment(std::string_view name) override;
  absl::StatusOr<std::string> Name() override { return name_; }

  void AddReference(record::ReferenceKind kind, std::string_view path_as_written) override;
  absl::Status AddGenerated(std::string_view name, std::string bytes, std::string_view cooker,
                            std::string_view settings_json) override;
  void AddTag(std::string_view name, std::variant<std::string, double, bool> value) override;
  void AddWarning(record::WarningKind, std::string_view text) override {
    warnings.emplace_back(text);
  }
  absl::Status AddOutput(std::string_view suffix, std::string bytes, bool is_executable) override;
  absl::Status AddSourceAsOutput(std::string_view suffix) override;
  absl::Status AddOutputFile(std::string_view suffix, const std::string& host_path) override;
  void Log(std::string_view) override {}

  absl::StatusOr<std::string> ScratchDirectory() override;
  absl::Status ShowMounts(const std::string& directory) override;
  absl::Status CheckUnchanged() override { return absl::OkStatus(); }
  absl::Duration TimeLeft() const override { return absl::InfiniteDuration(); }
  uint64_t MemoryBytesMax() const override { return world_.memory_bytes_max; }

  std::set<std::pair<std::string, record::ReferenceKind>> references;  // as written
  std::set<std::string> reads;                                         // existing files, as asked
  std::map<std::string, std::variant<std::string, double, bool>> tags;
  std::vector<std::string> warnings;
  std::set<std::string> generated;  // names of generated packages

 private:
  // The path on this machine; "": the file lies in no mount.
  absl::StatusOr<std::string> HostPath(std::string_view path) const;

  const LookWorld& world_;
  const std::string file_;
  const std::string extension_;
  const Blob source_;
  const nlohmann::json settings_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> mounts_;
};

}  // namespace galley::worker
