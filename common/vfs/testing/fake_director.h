// FakeDirector: a director in memory, behind the hooks of galley_vfs_net: a world of files, some of
// which have to be cooked. It can be away, cut connections, be not ready, and give wrong bytes.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/galley_vfs.h"
#include "common/vfs/testing/tree_folder.h"

namespace galley::vfs {

class FakeDirector {
 public:
  // Files of the folder "Game", by name. A cooked one is in the tree; others come when asked for.
  void SetFile(const std::string& name, const std::string& bytes, bool is_cooked = false) {
    const std::lock_guard lock(mutex_);
    newest_ = std::make_shared<World>(*newest_);
    newest_->roots.clear();
    newest_->files[name] = bytes;
    newest_->text += name + bytes;  // another one
    if (is_cooked) newest_->cooked.insert(name);
    if (!is_cooked) newest_->cooked.erase(name);
    worlds_[BlobId::Of(newest_->text)] = newest_;
    MakeRoot(*newest_);
  }
  // Only the newest world and its blobs are left, as a director collects what nobody leases. Its
  // file `world` does not grow.
  void Collect() {
    const std::lock_guard lock(mutex_);
    newest_->text = ToHex(Sha256::Of(newest_->text));
    newest_->roots.clear();
    blobs_.clear();
    worlds_.clear();
    worlds_[BlobId::Of(newest_->text)] = newest_;
    MakeRoot(*newest_);
  }
  // The files of the world whose file `world` this is.
  std::map<std::string, std::string> FilesOf(const BlobId& world) const {
    const std::lock_guard lock(mutex_);
    const auto found = worlds_.find(world);
    return found == worlds_.end() ? std::map<std::string, std::string>() : found->second->files;
  }
  // So many of a thousand requests are answered wrongly, in a way that is drawn: cut off, with a
  // wrong byte, by 500, 503 or nonsense, or not at all; and so many connections are refused.
  void SetChaos(uint32_t seed, uint32_t per_mille) {
    const std::lock_guard lock(mutex_);
    random_.seed(seed);
    chaos_ = per_mille;
  }
  void SetAway(bool is_away) {
    const std::lock_guard lock(mutex_);
    is_away_ = is_away;
  }
  // The next answers with a file are cut: the first one after so many bytes of the body, the others
  // at its beginning.
  void CutNext(int answers, size_t after) {
    const std::lock_guard lock(mutex_);
    cuts_ = answers;
    cut_after_ = after;
  }
  // The next answers with a file have a wrong byte.
  void SpoilNext(int answers) {
    const std::lock_guard lock(mutex_);
    spoils_ = answers;
  }
  // The next requests for files of a session are 503.
  void NotReadyNext(int answers) {
    const std::lock_guard lock(mutex_);
    not_ready_ = answers;
  }
  // Comparisons of roots are answered by this; empty: as an older director, which knows of none.
  void SetDifference(std::string json) {
    const std::lock_guard lock(mutex_);
    difference_ = std::move(json);
  }
  void EndSessions() {
    const std::lock_guard lock(mutex_);
    sessions_.clear();
  }
  void Lose(const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    blobs_.erase(BlobId::Of(bytes));
  }
  // Requests are taken, and not answered.
  void SetSilent(bool is_silent) {
    const std::lock_guard lock(mutex_);
    is_silent_ = is_silent;
  }
  // Every answer goes on with these bytes for ever.
  void SetEndless(std::string answer) {
    const std::lock_guard lock(mutex_);
    endless_ = std::move(answer);
  }
  // False: no stream of changes was opened within a minute.
  bool AwaitStream() {
    std::unique_lock lock(mutex_);
    return told_.wait_for(lock, std::chrono::minutes(1), [this] { return !streams_.empty(); });
  }
  // A stream of changes is told this. How many streams are open is returned.
  size_t Tell(const std::string& event) {
    const std::lock_guard lock(mutex_);
    for (Connection* const stream : streams_) stream->answer += event;
    told_.notify_all();
    return streams_.size();
  }
  // Answers this to every request; empty: answers as a director does.
  void SetRaw(std::string answer) {
    const std::lock_guard lock(mutex_);
    raw_ = std::move(answer);
  }
  // Ends all connections that are open now, as a director that is restarted does.
  void EndConnections() {
    const std::lock_guard lock(mutex_);
    for (Connection* const one : connections_) {
      one->answer.clear();
      one->is_cut = true;
    }
    told_.notify_all();
  }
  // How often was something sent over a connection that had ended.
  int vain_sends() const {
    const std::lock_guard lock(mutex_);
    return vain_sends_;
  }
  // How ranges are answered: as they should be, by the whole file, by another range, by 416.
  enum class Ranges { kRight, kWhole, kWrong, kRefused };
  void SetRanges(Ranges ranges) {
    const std::lock_guard lock(mutex_);
    ranges_ = ranges;
  }
  // At most so many bytes come at a time.
  void SetPiece(size_t bytes) {
    const std::lock_guard lock(mutex_);
    piece_ = bytes;
  }
  // The next requests end their connection before a byte of the answer.
  void HangUpNext(int requests) {
    const std::lock_guard lock(mutex_);
    hang_ups_ = requests;
  }
  size_t connects() const {
    const std::lock_guard lock(mutex_);
    return connects_;
  }
  BlobId root() const {
    const std::lock_guard lock(mutex_);
    return newest_->root;
  }
  // "GET /v1/...", in their order.
  std::vector<std::string> TakeRequests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }

  galley_vfs_net Net() {
    return {.struct_size = sizeof(galley_vfs_net),
            .context = this,
            .connect = &Connect,
            .send = &Send,
            .receive = &Receive,
            .close = &Close};
  }

 private:
  struct Connection {
    std::string request, answer;
    bool is_cut = false;
    bool is_endless = false;
  };
  struct World {
    std::map<std::string, std::string> files;
    std::set<std::string> cooked;
    std::string text;
    BlobId root;
    std::set<BlobId> roots;  // that it has, and had before it grew
  };

  static void* Connect(void* context, const char*, uint16_t, int, char* text, size_t size) {
    auto* const self = static_cast<FakeDirector*>(context);
    const std::lock_guard lock(self->mutex_);
    if (self->is_away_ || self->IsDrawn(3)) {
      std::strncpy(text, "refused", size);
      return nullptr;
    }
    ++self->connects_;
    return *self->connections_.insert(new Connection).first;
  }
  static void Close(void* context, void* connection) {
    auto* const self = static_cast<FakeDirector*>(context);
    const std::lock_guard lock(self->mutex_);
    self->streams_.erase(static_cast<Connection*>(connection));
    self->connections_.erase(static_cast<Connection*>(connection));
    delete static_cast<Connection*>(connection);
  }
  static ptrdiff_t Send(void* context, void* connection, const void* bytes, size_t size, int) {
    auto* const self = static_cast<FakeDirector*>(context);
    auto& to = *static_cast<Connection*>(connection);
    const std::lock_guard lock(self->mutex_);
    if (to.is_cut) ++self->vain_sends_;
    if (self->is_away_ || to.is_cut) return -2;
    to.request.append(static_cast<const char*>(bytes), size);
    self->Answer(to);
    return static_cast<ptrdiff_t>(size);
  }
  // A few bytes at a time.
  static ptrdiff_t Receive(void* context, void* connection, void* buffer, size_t size,
                           int timeout_ms) {
    auto* const self = static_cast<FakeDirector*>(context);
    auto& from = *static_cast<Connection*>(connection);
    std::unique_lock lock(self->mutex_);
    const bool is_idle = from.answer.empty() && !from.is_endless && !from.is_cut;
    if (is_idle && !self->is_away_ && timeout_ms > 0)
      self->told_.wait_for(lock, std::chrono::milliseconds(2));
    if (from.answer.empty() && from.is_endless) from.answer = std::string(1'000, 'x');
    if (from.answer.empty()) return from.is_cut || self->is_away_ ? 0 : -1;
    const size_t count = std::min({size, from.answer.size(), self->piece_});
    std::memcpy(buffer, from.answer.data(), count);
    from.answer.erase(0, count);
    return static_cast<ptrdiff_t>(count);
  }

  void Answer(Connection& connection) {
    const size_t head = connection.request.find("\r\n\r\n");
    if (head == std::string::npos) return;
    size_t body = 0;
    if (const size_t at = connection.request.find("Content-Length: "); at < head)
      body = static_cast<size_t>(std::stoul(connection.request.substr(at + 16)));
    if (connection.request.size() < head + 4 + body) return;
    const std::string request = connection.request.substr(0, head);
    const std::string body_text = connection.request.substr(head + 4, body);
    connection.request.erase(0, head + 4 + body);
    const std::string method = request.substr(0, request.find(' '));
    const size_t target_at = method.size() + 1;
    const std::string target = request.substr(target_at, request.find(' ', target_at) - target_at);
    requests_.push_back(method + " " + target);
    if (hang_ups_ > 0) {
      --hang_ups_;
      connection.is_cut = true;
      return;
    }
    if (is_silent_ || !MayAnswer(connection)) return;
    if (!endless_.empty()) {
      connection.answer += endless_;
      connection.is_endless = true;
      return;
    }
    if (!raw_.empty()) {
      connection.answer += raw_;
      connection.is_cut = true;
      return;
    }
    if (method == "POST") {
      const std::string id = "s" + std::to_string(++last_session_);
      const std::shared_ptr<World> world = WorldFor(body_text);
      if (world != nullptr) sessions_[id] = world;
      connection.answer +=
          world == nullptr ? Problem(410, "an older world") : Text(201, Json(State(id)));
    } else if (target.starts_with("/v1/blob/")) {
      const auto found = blobs_.find(BlobId::Parse(target.substr(9)).value_or(BlobId{}));
      if (found == blobs_.end()) {
        connection.answer += Problem(404, "no blob");
      } else {
        GiveFile(connection, request, found->second, *newest_);
      }
    } else if (target.starts_with("/v1/root/") && !difference_.empty()) {
      connection.answer += Text(200, difference_);
    } else if (target.starts_with("/v1/sessions/")) {
      AnswerSession(connection, method, target.substr(13), request);
    } else {
      connection.answer += Problem(404, "nothing there");
    }
  }
  // True once in `of` times that chaos strikes.
  bool IsDrawn(uint32_t of) { return random_() % 1'000 < chaos_ && random_() % of == 0; }
  // False: the answer is drawn, and given.
  bool MayAnswer(Connection& connection) {
    if (chaos_ == 0 || !IsDrawn(1)) return true;
    switch (random_() % 8) {
      case 0:
        connection.is_cut = true;
        return false;
      case 1:
        connection.answer += Problem(500, "chaos");
        return false;
      case 2:
        connection.answer += Text(503, "{\"text\": \"chaos\"}", "Retry-After: 0\r\n");
        return false;
      case 3:
        connection.answer += "chaos\r\n\r\n";
        return false;
      case 4:
        spoils_ = 1;
        return true;
      case 5:
        ranges_ = static_cast<Ranges>(random_() % 4);
        return true;
      case 6:
        cuts_ = 1;
        cut_after_ = random_() % 5'000;
        return true;
      default:
        return random_() % 4 != 0;  // not at all
    }
  }
  void AnswerSession(Connection& connection, const std::string& method, const std::string& rest,
                     const std::string& request) {
    const std::string id = rest.substr(0, rest.find('/'));
    if (!sessions_.contains(id)) {
      connection.answer += Problem(404, "no session");
      return;
    }
    if (method == "DELETE") {
      sessions_.erase(id);
      connection.answer += "HTTP/1.1 204 No Content\r\n\r\n";
      return;
    }
    if (rest == id) {
      connection.answer += Text(200, Json(State(id)));
      return;
    }
    if (rest == id + "/changes") {
      streams_.insert(&connection);
      told_.notify_all();
      connection.answer += "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
      return;
    }
    if (not_ready_ > 0) {
      --not_ready_;
      connection.answer += Text(503, "{\"text\": \"workers are replaced\"}", "Retry-After: 0\r\n");
      return;
    }
    const std::string name = rest.substr(id.size() + 6);  // "/Game/"
    World& world = *sessions_[id];
    const auto file = world.files.find(name);
    if (file == world.files.end()) {
      connection.answer += Problem(404, "no such path");
    } else if (file->second == "fails") {
      connection.answer += Problem(422, "the shader has an error");
    } else {
      world.cooked.insert(name);
      MakeRoot(world);
      GiveFile(connection, request, file->second, world);
    }
  }
  void GiveFile(Connection& connection, const std::string& request, std::string bytes,
                const World& world) {
    const Hash hash = Sha256::Of(bytes);
    std::string fields = "Repr-Digest: sha-256=:" + Base64(hash) +
                         ":\r\nGalley-Root: " + world.root.ToText() + "\r\n";
    int status = 200;
    const size_t at = request.find("Range: bytes=");
    if (at != std::string::npos && ranges_ == Ranges::kRefused) {
      connection.answer += Problem(416, "no such range");
      return;
    }
    if (at != std::string::npos && ranges_ != Ranges::kWhole) {
      const size_t from = ranges_ == Ranges::kWrong ? 1 : std::stoul(request.substr(at + 13));
      fields += "Content-Range: bytes " + std::to_string(from) + "-" +
                std::to_string(bytes.size() - 1) + "/" + std::to_string(bytes.size()) + "\r\n";
      bytes.erase(0, from);
      status = 206;
    }
    if (spoils_ > 0 && !bytes.empty()) {
      --spoils_;
      bytes[bytes.size() / 2] ^= 1;
    }
    std::string answer = Text(status, bytes, fields);
    if (cuts_ > 0 && bytes.size() > std::max<size_t>(cut_after_, 1'000)) {
      --cuts_;
      answer.resize(answer.size() - bytes.size() + std::exchange(cut_after_, 0));
      connection.is_cut = true;
    }
    connection.answer += answer;
  }

  static std::string Base64(const Hash& hash) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t at = 0; at < hash.size(); at += 3) {
      uint32_t bits = 0;
      for (size_t i = at; i < at + 3; ++i) bits = bits << 8 | (i < hash.size() ? hash[i] : 0u);
      for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 63];
    }
    text.back() = '=';  // of the last group, which has two bytes
    return text;
  }
  static std::string Text(int status, const std::string& body, const std::string& fields = "") {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
  }
  static std::string Problem(int status, const std::string& text) {
    return Text(status, "{\"text\": \"" + text + "\"}",
                "Content-Type: application/problem+json\r\n");
  }
  std::vector<std::pair<std::string, std::string>> State(const std::string& id) const {
    return {{"session", id},
            {"root", sessions_.at(id)->root.ToText()},
            {"newest_root", newest_->root.ToText()}};
  }
  // The world of the root that a request for a session names; the newest one, if it names none;
  // nullptr: none has that root.
  std::shared_ptr<World> WorldFor(const std::string& body) const {
    if (body.find("\"root\"") == std::string::npos) return newest_;
    for (const auto& [id, world] : worlds_) {
      for (const BlobId& root : world->roots) {
        if (body.find(root.ToText()) != std::string::npos) return world;
      }
    }
    return nullptr;
  }
  static std::string Json(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string json = "{\"frozen\": false";
    for (const auto& [name, value] : members) json += ", \"" + name + "\": \"" + value + "\"";
    return json + "}";
  }

  BlobId Put(const std::string& bytes) {
    const BlobId blob = BlobId::Of(bytes);
    blobs_[blob] = bytes;
    return blob;
  }
  BlobId Put(const TreeFolder& folder) { return Put(folder.Encode()); }
  // A tree as director/devices makes them: a link for each file, and nodes for the cooked ones.
  void MakeRoot(World& world) {
    TreeFolder links, nodes;
    for (const auto& [name, bytes] : world.files) {
      const std::string node = ToHex(Sha256::Of("/Game/" + name));
      links.links.push_back({.name = name, .target = "../../resource/00/00/" + node + "/" + name});
      if (!world.cooked.contains(name)) continue;
      nodes.directories.push_back(
          {node, Put(TreeFolder{.files = {{.name = name, .blob = Put(bytes)}}})});
    }
    std::ranges::sort(nodes.directories, {}, &TreeFolder::Node::name);
    const BlobId game = Put(links);
    TreeFolder root{.files = {{.name = "world", .blob = Put(world.text)}}};
    if (!nodes.directories.empty()) {
      const BlobId ab = Put(TreeFolder{.directories = {{"00", Put(nodes)}}});
      const BlobId resource = Put(TreeFolder{.directories = {{"00", ab}}});
      root.directories.push_back({"resource", resource});
    }
    root.directories.push_back({"static", Put(TreeFolder{.directories = {{"Game", game}}})});
    world.roots.insert(world.root = Put(root));
  }

  mutable std::mutex mutex_;
  std::condition_variable told_;
  std::shared_ptr<World> newest_ = std::make_shared<World>();
  std::map<BlobId, std::shared_ptr<World>> worlds_;  // by their files `world`
  std::map<BlobId, std::string> blobs_;
  std::map<std::string, std::shared_ptr<World>> sessions_;
  int last_session_ = 0;
  bool is_away_ = false;
  int cuts_ = 0, spoils_ = 0, not_ready_ = 0, hang_ups_ = 0, vain_sends_ = 0;
  size_t connects_ = 0;
  size_t cut_after_ = 0;
  std::string raw_, endless_, difference_;
  std::mt19937 random_;
  uint32_t chaos_ = 0;
  Ranges ranges_ = Ranges::kRight;
  size_t piece_ = 1'000;
  bool is_silent_ = false;
  std::set<Connection*> streams_, connections_;
  std::vector<std::string> requests_;
};

}  // namespace galley::vfs
