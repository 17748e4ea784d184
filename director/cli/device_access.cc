#include "director/cli/device_access.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/vfs/sockets.h"
#include "common/vfs/url.h"

namespace galley::cli {
namespace {

constexpr uint64_t kTokenBytesMax = 4'096;

std::string DeviceVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::Status CheckDevice(const DeviceOptions& device) {
  if (!vfs::ParseUrl(device.url)) {
    return InvalidArgumentError(
        "{}: expected http://HOST:PORT or https://HOST:PORT, as `galley serve --http` prints it",
        device.url);
  }
  const bool is_https = device.url.starts_with("https://");
  if (is_https || (device.ca.empty() && device.pin.empty())) return absl::OkStatus();
  return InvalidArgumentError("{}: --ca and --pin are for https://", device.url);
}

// The director's file with its token ends in a line feed.
absl::StatusOr<std::string> TokenOf(const DeviceOptions& device) {
  if (device.token_file.empty()) return DeviceVariable("GALLEY_DEVICE_TOKEN");
  absl::StatusOr<std::string> token = ReadFile(AbsolutePath(device.token_file), kTokenBytesMax);
  if (!token.ok()) return InvalidArgumentError("--token-file: {}", MessageOf(token.status()));
  while (token->ends_with('\n') || token->ends_with('\r')) token->pop_back();
  if (token->empty())
    return InvalidArgumentError("--token-file {}: it is empty", device.token_file);
  return token;
}

absl::StatusOr<std::string> CacheFolderOf(const DeviceOptions& device) {
  if (!device.cache.empty()) return AbsolutePath(device.cache);
  std::string name = device.url.substr(device.url.find("://") + 3);
  while (name.ends_with('/')) name.pop_back();
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '/' || c == '[' || c == ']'; }, '_');
  return DeviceCacheOf(name);
}

absl::StatusOr<uint64_t> CacheBytesOf(const DeviceOptions& device) {
  if (device.cache_size.empty()) return 0;
  const absl::StatusOr<uint64_t> bytes = ParseSize(device.cache_size);
  if (bytes.ok() && *bytes > 0) return bytes;
  return InvalidArgumentError("--cache-size {}: expected a size such as 4GiB", device.cache_size);
}

}  // namespace

absl::StatusOr<std::string> DeviceCacheOf(const std::string& name) {
  std::string caches = DeviceVariable("XDG_CACHE_HOME");
  if (const std::string home = DeviceVariable("HOME"); caches.empty() && !home.empty())
    caches = JoinPath(home, ".cache");
  if (caches.empty())
    return absl::InvalidArgumentError(
        "expected --cache DIR, as neither XDG_CACHE_HOME nor HOME is set");
  return AbsolutePath(JoinPath(caches, "galley/device/" + name));
}

DeviceAccess& DeviceAccess::operator=(DeviceAccess&& other) noexcept {
  url = std::move(other.url);
  token = std::move(other.token);
  cache_folder = std::move(other.cache_folder);
  cache_bytes_max = other.cache_bytes_max;
  std::swap(tls_, other.tls_);
  return *this;
}

galley_vfs_net DeviceAccess::net() const {
  return tls_.connect == nullptr ? vfs::PlainNet() : tls_;
}

absl::StatusOr<DeviceAccess> AccessOf(const DeviceOptions& device) {
  RETURN_IF_ERROR(CheckDevice(device));
  DeviceAccess access;
  access.url = device.url;
  ASSIGN_OR_RETURN(access.token, TokenOf(device));
  ASSIGN_OR_RETURN(access.cache_folder, CacheFolderOf(device));
  ASSIGN_OR_RETURN(access.cache_bytes_max, CacheBytesOf(device));
  if (!device.url.starts_with("https://")) return access;
  const std::string ca = device.ca.empty() ? "" : AbsolutePath(device.ca);
  galley_vfs_tls_options tls{};
  tls.struct_size = sizeof tls;
  tls.ca_file = ca.empty() ? nullptr : ca.c_str();
  tls.pinned_sha256 = device.pin.empty() ? nullptr : device.pin.c_str();
  char text[512] = "";
  if (galley_vfs_tls_create(&tls, &access.tls_, text, sizeof text) != GALLEY_VFS_OK)
    return InvalidArgumentError("{}: {}", device.url, text);
  return access;
}

}  // namespace galley::cli
