#include "worker/cookers/shader/includes.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/source/foreign_source.h"

namespace galley::worker {
namespace {

// "../inc/a.glsl" -> "../inc/"; "a.glsl" -> "".
std::string_view FolderPrefix(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

std::string Join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

// Keeps the memory that an IncludeResult points at alive until releaseInclude.
struct Kept {
  Blob bytes;
  std::string error;
};

}  // namespace

glslang::TShader::Includer::IncludeResult* Includes::includeLocal(const char* name,
                                                                  const char* includer,
                                                                  size_t depth) {
  return Search(name, includer, depth, false);
}

glslang::TShader::Includer::IncludeResult* Includes::includeSystem(const char* name,
                                                                   const char* includer,
                                                                   size_t depth) {
  return Search(name, includer, depth, true);
}

void Includes::releaseInclude(IncludeResult* result) {
  if (result == nullptr) return;
  delete static_cast<Kept*>(result->userData);
  delete result;
}

absl::StatusOr<Blob> Includes::Read(const std::string& path) {
  if (const auto found = read_.find(path); found != read_.end()) return found->second;
  ASSIGN_OR_RETURN(FileContent content, context_.ReadFile(path));
  Blob bytes = content.kind == Kind::kFile ? std::move(content.bytes) : nullptr;
  read_.emplace(path, bytes);
  return bytes;
}

glslang::TShader::Includer::IncludeResult* Includes::Search(std::string_view name,
                                                            std::string_view includer, size_t depth,
                                                            bool in_folders) {
  if (!status_.ok()) return Refuse("not read");
  if (depth > kIncludeDepthMax)
    return Refuse(fmt::format("includes nest deeper than {} (a cycle?)", kIncludeDepthMax));
  std::vector<std::string> places;
  const bool is_absolute = name.starts_with('/') || name.starts_with('\\');
  places.push_back(is_absolute ? std::string(name) : Join(FolderPrefix(includer), name));
  if (in_folders && !is_absolute) {
    for (const std::string& folder : folders_) places.push_back(Join(folder, name));
  }
  std::string looked;
  for (const std::string& place : places) {
    const absl::StatusOr<std::string> path = content::NormalizeAsked(place);
    if (!path.ok()) return Refuse(MessageOf(path.status()));
    const absl::StatusOr<Blob> bytes = Read(*path);
    if (absl::IsInvalidArgument(bytes.status())) return Refuse(MessageOf(bytes.status()));
    if (!bytes.ok()) {
      status_ = bytes.status();
      return Refuse("not read");
    }
    if (*bytes != nullptr) return Accept(*path, *bytes, includer);
    looked += looked.empty() ? *path : ", " + *path;
  }
  // Without a result the compiler asks includeSystem next.
  if (!in_folders) return nullptr;
  return Refuse(fmt::format("not found; looked at {}", looked));
}

glslang::TShader::Includer::IncludeResult* Includes::Accept(const std::string& path,
                                                            const Blob& bytes,
                                                            std::string_view includer) {
  if (const absl::Status fetched = CheckNoLfsPointer(*bytes); !fetched.ok())
    return Refuse(fmt::format("{}: {}", path, MessageOf(fetched)));
  const std::string_view text = WithoutByteOrderMark(*bytes);
  included_bytes_ += text.size();
  if (++includes_ > kIncludesMax) return Refuse(fmt::format("more than {} includes", kIncludesMax));
  if (included_bytes_ > kIncludedBytesMax) {
    return Refuse(fmt::format("more than {} bytes are included", kIncludedBytesMax));
  }
  if (const absl::Status guarded = guard_.ReadInclude(path, text, includer); !guarded.ok())
    return Refuse(MessageOf(guarded));
  return new IncludeResult(path, text.data(), text.size(), new Kept{.bytes = bytes, .error = {}});
}

glslang::TShader::Includer::IncludeResult* Includes::Refuse(std::string reason) {
  auto kept = std::make_unique<Kept>(Kept{.bytes = nullptr, .error = std::move(reason)});
  const std::string& error = kept->error;
  auto result = std::make_unique<IncludeResult>("", error.data(), error.size(), kept.get());
  kept.release();
  return result.release();
}

}  // namespace galley::worker
