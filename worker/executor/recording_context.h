// RecordingContext: the CookContext of a Load or a Cook. It normalises the cooker's questions,
// hands them to the InputProvider, records them with their values, and gathers the cooker's
// results.
//
// A repeated question gets the same answer. Trouble is sticky: once a look was interrupted or
// failed by the machine, the outcome of the cooker no longer counts, so that a cooker cannot turn
// an I/O error into a verdict by mistake.
// Threads: one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "worker/cookers/cooker.h"
#include "worker/cookers/unseen_reads.h"
#include "worker/cookers/walled_programs.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/opened_notes.h"

namespace galley::worker {

// Limits on the cooker's results; beyond them: INVALID_ARGUMENT.
inline constexpr size_t kOutputsMax = 10'000;
inline constexpr size_t kGeneratedMax = 100'000;
inline constexpr size_t kWarningsMax = 1'000;
inline constexpr size_t kTextBytesMax = 16 << 10;  // for a single warning
inline constexpr size_t kLogBytesMax = 1 << 20;

struct CookedFile {
  std::string suffix;
  Blob bytes = nullptr;          // nullptr: `stream` has them, while the job lasts
  PieceStream stream = nullptr;  // called when the bytes are sent
  uint64_t stream_bytes = 0;
  bool is_executable = false;
  uint64_t size_bytes() const { return bytes == nullptr ? stream_bytes : bytes->size(); }
};

// Gathered: the results of a Load or a Cook. Details are canonical only after Finish.
struct Gathered {
  std::map<record::Observation, std::string> observed;
  std::set<record::Reference> references;
  std::map<std::string, record::Generated> generated;
  std::map<std::string, Blob> generated_bytes;  // by name
  std::map<std::string, std::variant<std::string, double, bool>> tags;
  std::vector<std::string> warnings;
  std::map<std::string, CookedFile> outputs;
  std::string log;

  std::vector<record::Observed> Observed() const;
  record::Details Details() const;
};

struct ContextOptions {
  InputProvider* provider = nullptr;
  uint32_t platform = 0;
  const nlohmann::json* settings = nullptr;
  const std::string* extension = nullptr;
  const SourceContent* source = nullptr;
  uint64_t memory_bytes_max = 0;
  OpenedNotes* notes = nullptr;  // null: nobody reads notes, and the time has no limit
  bool is_load = false;
};

class RecordingContext final : public CookContext, public UnseenReads, public WalledPrograms {
 public:
  // `before`: for a Cook, the results of its Load.
  RecordingContext(const ContextOptions& options, Gathered before);

  const nlohmann::json& settings() const override { return *options_.settings; }
  const std::string& extension() const override { return *options_.extension; }
  const Blob& source() const override { return options_.source->bytes; }

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
  absl::StatusOr<std::string> Name() override;

  void AddReference(record::ReferenceKind kind, std::string_view path_as_written) override;
  absl::Status AddGenerated(std::string_view name, std::string bytes, std::string_view cooker,
                            std::string_view settings_json) override;
  void AddTag(std::string_view name, std::variant<std::string, double, bool> value) override;
  void AddWarning(record::WarningKind kind, std::string_view text) override;
  absl::Status AddOutput(std::string_view suffix, std::string bytes, bool is_executable) override;
  absl::Status AddSourceAsOutput(std::string_view suffix) override;
  absl::Status AddOutputFile(std::string_view suffix, const std::string& host_path) override;
  void Log(std::string_view text) override;

  absl::StatusOr<std::string> ScratchDirectory() override;
  absl::Status ShowMounts(const std::string& directory) override;
  ChildWatch* Watch() override { return options_.provider->Watch(); }
  absl::StatusOr<const ChildWalls*> Walls() override { return options_.provider->Walls(); }
  absl::Status CheckUnchanged() override;
  void SetReadsUnseen(bool are_unseen) override;
  // The session measures the time.
  absl::Duration TimeLeft() const override {
    const bool is_up = options_.notes != nullptr && options_.notes->IsTimeUp();
    return is_up ? absl::ZeroDuration() : absl::InfiniteDuration();
  }
  uint64_t MemoryBytesMax() const override { return options_.memory_bytes_max; }

  // The first look that failed without a fault of the cooker; OK: no such look.
  const absl::Status& trouble() const { return trouble_; }
  const Gathered& gathered() const { return gathered_; }
  Gathered Take() { return std::move(gathered_); }

 private:
  absl::Status AddCookedFile(CookedFile file);
  absl::StatusOr<Look> Observe(record::Observation what, Want want);
  absl::Status Remember(absl::Status status);

  ContextOptions options_;
  Gathered gathered_;
  std::map<record::Observation, Look> looks_;  // looks in this context with small contents
  size_t kept_bytes_ = 0;                      // bytes of the contents in looks_
  absl::Status trouble_;
};

}  // namespace galley::worker
