// Includes: the included files of a shader. They are found through the cook's context, so that
// every look, also at a path without a file, is observed.
//
// `#include "x"` and `#include <x>` search alike: first the includer's own folder, then
// `include_dirs` in order; an absolute virtual path is taken as it is. The compiler, and its
// messages, call a file by its path as asked ("../inc/a.glsl", "/Game/inc/a.glsl").
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "glslang/Public/ShaderLang.h"
#include "worker/cookers/cooker.h"
#include "worker/cookers/shader/text_guard.h"

namespace galley::worker {

inline constexpr size_t kIncludeDepthMax = 64;
// The limits for a compilation; repeated includes count each time.
inline constexpr size_t kIncludesMax = 10'000;
inline constexpr size_t kIncludedBytesMax = size_t{64} << 20;
// An object serves a single compilation.
// Threads: none.
class Includes : public glslang::TShader::Includer {
 public:
  // `folders`: normal asked paths. Both must outlive this object.
  Includes(CookContext& context, const std::vector<std::string>& folders)
      : context_(context), folders_(folders) {}

  IncludeResult* includeLocal(const char* name, const char* includer, size_t depth) override;
  IncludeResult* includeSystem(const char* name, const char* includer, size_t depth) override;
  void releaseInclude(IncludeResult* result) override;

  // The context's error (stale source, I/O) that ended the search: the messages of the compilation
  // mean nothing then.
  const absl::Status& status() const { return status_; }
  // The guard reads each text before the compiler does.
  TextGuard& guard() { return guard_; }

 private:
  // The bytes of a file; nullptr: there is no such file.
  absl::StatusOr<Blob> Read(const std::string& path);
  IncludeResult* Search(std::string_view name, std::string_view includer, size_t depth,
                        bool in_folders);
  IncludeResult* Accept(const std::string& path, const Blob& bytes, std::string_view includer);
  IncludeResult* Refuse(std::string reason);

  CookContext& context_;
  const std::vector<std::string>& folders_;
  absl::Status status_;
  std::map<std::string, Blob> read_;
  TextGuard guard_;
  size_t includes_ = 0;
  size_t included_bytes_ = 0;
};

}  // namespace galley::worker
