-- CreateIndex
CREATE INDEX "changes_createdAt_idx" ON "changes"("createdAt");
