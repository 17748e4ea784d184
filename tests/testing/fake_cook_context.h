// FakeCookContext: a CookContext with memory instead of a disk, for the cookers' tests.
//
//   FakeCookContext context(cooker->description(), "/Game/a.vert", "#version 450 ...",
//                           {{"optimize", false}});
//   context.AddFile("/Game/inc/light.glsl", "...");
//   context.SetPlatform("shader", "spirv-1.5");
//   ASSERT_TRUE(LoadAndCook(*cooker, context).ok());
//   EXPECT_THAT(context.looks(), ElementsAre("file(inc/light.glsl)", "platform(shader)"));
//
// Looks are kept in the order in which they were made, doubles included, as text: kind(subject[,
// detail]), subjects normalised as asked. Misuse that the real context refuses is refused here, too
// (a suffix written twice, AddGenerated with a bad name).
//
// Threads: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "worker/cookers/cooker.h"

namespace galley::worker {

class FakeCookContext : public CookContext {
 public:
  // `package`: the source's virtual path. Settings that `settings` lacks take the description's
  // defaults. An unknown setting is a bug of the test (CHECK).
  FakeCookContext(const record::CookerDescription& cooker, std::string_view package,
                  std::string source, const nlohmann::json& settings = nlohmann::json::object());
  ~FakeCookContext() override;
  FakeCookContext(const FakeCookContext&) = delete;
  FakeCookContext& operator=(const FakeCookContext&) = delete;

  // --- The world. Paths are absolute virtual paths; a folder exists when it holds something.
  void AddFile(std::string_view path, std::string bytes);
  void RemoveFile(std::string_view path);
  void SetPlatform(std::string_view parameter, std::string_view value);
  void SetEnvironment(std::string_view name, std::string_view value);
  void AddTool(std::string_view path, std::string host_path);
  // The answer of Cooked(package, suffix). A package that was never added answers ABORTED, a suffix
  // that was never added nullptr.
  void AddCooked(std::string_view package, std::string_view suffix, std::string bytes);
  void set_memory_bytes_max(uint64_t bytes) { memory_bytes_max_ = bytes; }
  // The answer of CheckUnchanged; OK by default.
  void set_unchanged(absl::Status status) { unchanged_ = std::move(status); }
  void set_time_left(absl::Duration time) { time_left_ = time; }

  // --- What the cooker did.
  struct GeneratedPackage {
    std::string bytes;
    std::string cooker;
    std::string settings_json;
  };
  struct OutputFile {
    std::string bytes;
    bool is_executable = false;
  };
  const std::vector<std::string>& looks() const { return looks_; }
  // The looks at the platform, with what they saw.
  std::vector<record::Observed> PlatformLooks() const;
  const std::map<std::string, OutputFile>& outputs() const { return outputs_; }
  // The bytes of an output; CHECKs that it is there.
  const std::string& output(const std::string& suffix) const;
  const std::vector<record::Reference>& references() const { return references_; }
  const std::map<std::string, GeneratedPackage>& generated() const { return generated_; }
  const std::map<std::string, std::variant<std::string, double, bool>>& tags() const {
    return tags_;
  }
  const std::vector<std::string>& warnings() const { return warnings_; }  // without their kinds
  // The kinds of warnings(), in the same order.
  const std::vector<std::string>& warning_kinds() const { return warning_kinds_; }
  const std::string& log() const { return log_; }

  // --- CookContext.
  const nlohmann::json& settings() const override { return settings_; }
  const std::string& extension() const override { return extension_; }
  const Blob& source() const override { return source_; }
  absl::StatusOr<FileContent> ReadFile(std::string_view path) override;
  absl::Status CheckFile(std::string_view path) override { return ReadFile(path).status(); }
  absl::StatusOr<Kind> Exists(std::string_view path) override;
  absl::StatusOr<std::optional<std::vector<std::string>>> List(std::string_view folder) override;
  // Understands `*` and `?` within a segment and `**` across segments.
  absl::StatusOr<std::vector<std::string>> Glob(std::string_view root,
                                                std::string_view pattern) override;
  absl::StatusOr<Blob> Cooked(std::string_view package, std::string_view suffix) override;
  absl::StatusOr<bool> CookedTo(std::string_view package, std::string_view suffix,
                                const std::string& host_path) override;
  absl::StatusOr<std::optional<std::string>> Platform(std::string_view parameter) override;
  // The tool that AddTool named; another absolute path is the host's own.
  absl::StatusOr<std::string> Tool(std::string_view path) override;
  absl::StatusOr<std::optional<std::string>> Environment(std::string_view name) override;
  absl::StatusOr<std::string> Name() override;
  void AddReference(record::ReferenceKind kind, std::string_view path_as_written) override;
  absl::Status AddGenerated(std::string_view name, std::string bytes, std::string_view cooker,
                            std::string_view settings_json) override;
  void AddTag(std::string_view name, std::variant<std::string, double, bool> value) override;
  void AddWarning(record::WarningKind kind, std::string_view text) override;
  absl::Status AddOutput(std::string_view suffix, std::string bytes, bool is_executable) override;
  absl::Status AddSourceAsOutput(std::string_view suffix) override {
    return AddOutput(suffix, *source_, false);
  }
  absl::Status AddOutputFile(std::string_view suffix, const std::string& host_path) override;
  void Log(std::string_view text) override;
  // A real folder, removed with this object.
  absl::StatusOr<std::string> ScratchDirectory() override;
  // Writes the files of this world below `directory`.
  absl::Status ShowMounts(const std::string& directory) override;
  absl::Status CheckUnchanged() override { return unchanged_; }
  absl::Duration TimeLeft() const override { return time_left_; }
  uint64_t MemoryBytesMax() const override { return memory_bytes_max_; }

 private:
  struct AskedPath {
    std::string asked;     // normalised
    std::string absolute;  // virtual
  };
  absl::StatusOr<AskedPath> Resolve(std::string_view path) const;
  Kind KindOf(const std::string& absolute) const;
  void Note(std::string_view kind, std::string_view subject, std::string_view detail = {});

  // Constant after construction.
  std::string package_;
  std::string extension_;
  Blob source_;
  nlohmann::json settings_;

  std::map<std::string, Blob, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> platform_;
  std::map<std::string, std::string, std::less<>> environment_;
  std::map<std::string, std::string, std::less<>> tools_;
  std::map<std::string, std::map<std::string, Blob, std::less<>>, std::less<>> cooked_;
  uint64_t memory_bytes_max_ = uint64_t{4} << 30;
  absl::Status unchanged_;
  absl::Duration time_left_ = absl::Minutes(10);

  std::vector<std::string> looks_;
  std::map<std::string, OutputFile> outputs_;
  std::vector<record::Reference> references_;
  std::map<std::string, GeneratedPackage> generated_;
  std::map<std::string, std::variant<std::string, double, bool>> tags_;
  std::vector<std::string> warnings_, warning_kinds_;
  std::string log_;
  std::string scratch_;
};

// A job as an executor runs it, for a single platform: Load, then Cook, with the same context.
absl::Status LoadAndCook(Cooker& cooker, CookContext& context);

}  // namespace galley::worker
