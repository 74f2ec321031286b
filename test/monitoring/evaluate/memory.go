package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// The samples of one case, as a server scraped from them would have stored them.
type memory struct {
	storage.Queryable
	series map[string]*series
}

type sample struct {
	at    int64
	value float64
}

type series struct {
	labels  labels.Labels
	samples []sample
}

var target = map[string]string{"instance": "127.0.0.1:8081", "job": "larder"}

func store(scrapes []scrape) (*memory, error) {
	data := &memory{series: map[string]*series{}}
	total := 0
	for _, scrape := range scrapes {
		total += scrape.Minutes
	}
	at := end.Add(-time.Duration(total-1) * step)
	for _, scrape := range scrapes {
		up := 0.0
		if scrape.Text != "" {
			up = 1
		}
		found, err := parse(scrape.Text)
		if err != nil {
			return nil, err
		}
		found = append(found, value{complete(labels.FromStrings(labels.MetricName, "up")), up})
		for _, one := range found {
			data.add(one, at, scrape.Minutes)
		}
		at = at.Add(time.Duration(scrape.Minutes) * step)
	}
	return data, nil
}

type value struct {
	labels labels.Labels
	value  float64
}

func complete(found labels.Labels) labels.Labels {
	builder := labels.NewBuilder(found)
	for name, text := range target {
		builder.Set(name, text)
	}
	return builder.Labels()
}

func (data *memory) add(found value, at time.Time, minutes int) {
	key := found.labels.String()
	if data.series[key] == nil {
		data.series[key] = &series{labels: found.labels}
	}
	for minute := range minutes {
		scraped := at.Add(time.Duration(minute) * step)
		data.series[key].samples = append(data.series[key].samples, sample{scraped.UnixMilli(), found.value})
	}
}

func parse(text string) ([]value, error) {
	var values []value
	parser := textparse.NewPromParser([]byte(text), labels.NewSymbolTable(), false)
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, number := parser.Series()
		var found labels.Labels
		parser.Labels(&found)
		values = append(values, value{complete(found), number})
	}
}

func (data *memory) Querier(_, _ int64) (storage.Querier, error) { return data, nil }

func (data *memory) Close() error { return nil }

func (*memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (*memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (data *memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for _, one := range data.series {
		if matches(one.labels, matchers) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return &set{found: found, index: -1}
}

func matches(own labels.Labels, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(matcher *labels.Matcher) bool {
		return !matcher.Matches(own.Get(matcher.Name))
	})
}

type set struct {
	found []storage.Series
	index int
}

func (s *set) Next() bool                      { s.index++; return s.index < len(s.found) }
func (s *set) At() storage.Series              { return s.found[s.index] }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }
func (s *series) Labels() labels.Labels        { return s.labels }
func (s *series) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return &iterator{samples: s.samples, index: -1}
}

type iterator struct {
	samples []sample
	index   int
}

func (i *iterator) Next() chunkenc.ValueType {
	i.index++
	return i.kind()
}

func (i *iterator) kind() chunkenc.ValueType {
	if i.index < len(i.samples) {
		return chunkenc.ValFloat
	}
	return chunkenc.ValNone
}

func (i *iterator) Seek(at int64) chunkenc.ValueType {
	i.index = max(i.index, 0)
	for i.index < len(i.samples) && i.samples[i.index].at < at {
		i.index++
	}
	return i.kind()
}

func (i *iterator) At() (int64, float64) { return i.samples[i.index].at, i.samples[i.index].value }
func (i *iterator) AtT() int64           { return i.samples[i.index].at }
func (i *iterator) AtST() int64          { return 0 }
func (*iterator) Err() error             { return nil }
func (*iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	return 0, nil
}
func (*iterator) AtFloatHistogram(*histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	return 0, nil
}
