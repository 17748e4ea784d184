#include "worker/session/report_outbox.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using Haste = ReportOutbox::Haste;

v1::Report EndedReport() {
  v1::Report report;
  report.mutable_ended();
  return report;
}

TEST(ReportOutboxTest, ReportsAreSentOnceOnAStreamAndKeptUntilTheyArePersisted) {
  ReportOutbox outbox;
  outbox.AddReport(7, {}, Haste::kNone);
  outbox.AddReport(7, EndedReport(), Haste::kPressing);
  EXPECT_EQ(outbox.haste(), Haste::kPressing);
  v1::FromWorker message;
  outbox.AddUnsent(message);
  ASSERT_EQ(message.reports_size(), 2);
  EXPECT_EQ(message.reports(1).report(), 2u);
  EXPECT_EQ(message.reports(1).attempt(), 7u);
  EXPECT_EQ(outbox.haste(), Haste::kNone);
  EXPECT_FALSE(outbox.HasUnsent());
  EXPECT_TRUE(outbox.HasEndOf(7));
  EXPECT_EQ(outbox.persisted(), 0u);
  outbox.DropPersisted(1);
  EXPECT_EQ(outbox.persisted(), 1u);
  outbox.SendAllAgain();
  EXPECT_TRUE(outbox.HasUnsent());
  outbox.DropPersisted(2);
  outbox.DropPersisted(2);
  EXPECT_FALSE(outbox.HasEndOf(7));
  EXPECT_EQ(outbox.persisted(), 2u);
  EXPECT_EQ(outbox.size(), 0u);
}

TEST(ReportOutboxTest, AMessageHasAtLeastOneReportAndAtMostSoManyBytes) {
  ReportOutbox outbox;
  for (int i = 0; i < 2; ++i) {
    v1::Report report;
    report.mutable_failed()->set_log_tail(std::string(kReportBytesInMessageMax, 'x'));
    outbox.AddReport(1, std::move(report), Haste::kPressing);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outbox.haste(), Haste::kPressing);
    v1::FromWorker message;
    outbox.AddUnsent(message);
    EXPECT_EQ(message.reports_size(), 1);
  }
  EXPECT_FALSE(outbox.HasUnsent());
}

}  // namespace
}  // namespace galley::worker
